"""The checks that bundles and exports share ("Verifying a bundle")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .forms import (
    KEY_BYTES,
    SIGNATURE_BYTES,
    Refused,
    Undecided,
    decode_bytes,
    parse_time,
    require,
    require_members,
    require_text,
)
from .notes import Note, find_signers, parse_note
from .strict_json import canonical
from .trust import CERTIFICATE_TYPE, Anchor, Trust, find_trusted_keys, is_signed

TOLERANCE_MS = 300_000


@dataclass(frozen=True)
class Evidence:
    """What a bundle and the manifest of an export have in common, after the check `form`."""

    origin: str
    chain: str
    exported_at: str
    checkpoint: str
    certificate: dict[str, Any]
    rotations: list[dict[str, Any]]
    service: dict[str, Any]
    payload_type: str
    payload: bytes


class Context:
    """The evidence together with what the verifier has: trust, clock and anchors.

    `note` is the parsed checkpoint, or None. `signers` are the trusted log keys that signed it.
    `problem` says what is wrong with the checkpoint, if anything but the trust is.
    `anchored` has the times of the anchors that hold this checkpoint.
    """

    def __init__(
        self, evidence: Evidence, trust: Trust, now_ms: int, anchors: Sequence[Anchor]
    ) -> None:
        self.evidence = evidence
        self.trust = trust
        self.now_ms = now_ms
        self.keys = find_trusted_keys(
            trust, evidence.origin, evidence.certificate, evidence.rotations
        )
        self.signed_by = decode_bytes(evidence.certificate["signedBy"], KEY_BYTES, "signedBy")
        self.note: Optional[Note] = None
        self.signers: list[bytes] = []
        self.problem: Optional[str] = None
        self._read_checkpoint()
        self.anchored = [anchor.at for anchor in anchors if self._is_held_by(anchor)]

    def _read_checkpoint(self) -> None:
        try:
            self.note = parse_note(self.evidence.checkpoint)
            self.signers = find_signers(self.note, self.evidence.origin, self.keys.until)
            require(
                self.note.log == f"{self.evidence.origin}/{self.evidence.chain}",
                "the checkpoint is of another chain",
            )
        except Refused as problem:
            self.problem = str(problem)

    def _is_held_by(self, anchor: Anchor) -> bool:
        """Say if an anchor has this checkpoint, signed by a trusted log key ("Anchors")."""
        if self.note is None or not anchor.checkpoint.startswith(self.note.text):
            return False
        try:
            note = parse_note(anchor.checkpoint)
            return bool(find_signers(note, self.evidence.origin, self.keys.until))
        except Refused:
            return False

    def require_note(self) -> Note:
        """Return the parsed checkpoint. Refuse if there is none."""
        if self.note is None:
            raise Refused("the checkpoint cannot be read")
        return self.note

    @property
    def assurance(self) -> str:
        """`bracketed` when an anchor holds this checkpoint, else `self-asserted`."""
        return "bracketed" if self.anchored else "self-asserted"


def require_service(value: Any) -> None:
    """Require the form of `signatures.service`."""
    require_members(value, ("algorithm", "publicKey", "signature"), "signatures.service")
    require_text(value["algorithm"], "algorithm of signatures.service")
    decode_bytes(value["publicKey"], KEY_BYTES, "publicKey of signatures.service")
    decode_bytes(value["signature"], SIGNATURE_BYTES, "signature of signatures.service")


def check_certificate(context: Context) -> None:
    """Check `certificate`."""
    evidence, certificate = context.evidence, context.evidence.certificate
    statement = certificate["statement"]
    require(statement["origin"] == evidence.origin, "the certificate is of another origin")
    require(statement["purpose"] == "bundle", "the certificate has another purpose")
    require(
        statement["publicKey"] == evidence.service["publicKey"],
        "the certificate is of another key than that of the signature",
    )
    not_before = parse_time(statement["notBefore"], "notBefore")
    not_after = parse_time(statement["notAfter"], "notAfter")
    exported_at = parse_time(evidence.exported_at, "exportedAt")
    require(
        not_before <= exported_at <= not_after, "exportedAt is not within the certificate's time"
    )
    payload = canonical(statement)
    require(
        is_signed(CERTIFICATE_TYPE, payload, certificate["signedBy"], certificate["signature"]),
        "the signature of the certificate is not good",
    )
    require(context.signed_by in context.keys.until, "the certificate is not by a trusted log key")
    until = context.keys.until[context.signed_by]
    require(until is None or not_before <= until, "the log key had been retired")
    if not context.keys.pinned:
        raise Undecided("no key is pinned for this origin")


def check_revocation(context: Context) -> None:
    """Check `revocation`."""
    revoked = context.trust.revoked
    if decode_bytes(context.evidence.service["publicKey"], KEY_BYTES, "publicKey") in revoked:
        raise Undecided("the bundle key is revoked")
    for key in [context.signed_by, *context.signers]:
        if key in revoked and not any(at < revoked[key] for at in context.anchored):
            raise Undecided("a log key is revoked, and no anchor from before holds the checkpoint")


def check_signature(context: Context) -> None:
    """Check `signature`."""
    evidence, service = context.evidence, context.evidence.service
    require(service["algorithm"] == "ed25519", "the algorithm is not ed25519")
    require(
        is_signed(
            evidence.payload_type, evidence.payload, service["publicKey"], service["signature"]
        ),
        "the signature is not good",
    )


def check_checkpoint(context: Context) -> None:
    """Check `checkpoint`."""
    if context.problem is not None:
        raise Refused(context.problem)
    if not context.signers:
        by_certifier = find_signers(
            context.require_note(), context.evidence.origin, [context.signed_by]
        )
        require(bool(by_certifier), "no trusted log key has signed the checkpoint")
        raise Undecided("only the key of the certificate, which is not trusted, has signed it")
    if not context.keys.pinned:
        raise Undecided("no key is pinned for this origin")


def check_times(context: Context, times: Iterable[str], last_ts: Optional[str]) -> None:
    """Check `times`. `times` are those of the entries, `last_ts` is that of the last entry.

    Several trusted log keys may have signed the checkpoint, and several anchors may hold it.
    Then the condition must hold for each.
    """
    evidence = context.evidence
    statement = evidence.certificate["statement"]
    for time in times:
        parse_time(time, "a time of an entry")
    for name in ("notBefore", "notAfter"):
        parse_time(statement[name], name)
    for rotation in evidence.rotations:
        parse_time(rotation["statement"]["at"], "at of a rotation")
    exported_at = parse_time(evidence.exported_at, "exportedAt")
    require(
        exported_at <= context.now_ms + TOLERANCE_MS,
        "exportedAt is more than 300 s ahead of the clock",
    )
    if last_ts is not None:
        _check_last_time(context, parse_time(last_ts, "ts of the last entry"), exported_at)


def _check_last_time(context: Context, ts: int, exported_at: int) -> None:
    """Check the time of the last entry."""
    require(ts <= exported_at, "ts of the last entry is after exportedAt")
    for key in context.signers:
        until = context.keys.until[key]
        require(until is None or ts <= until, "ts of the last entry is after the log key's until")
    for at in context.anchored:
        require(ts <= at + TOLERANCE_MS, "ts of the last entry is 300 s after an anchor of it")
