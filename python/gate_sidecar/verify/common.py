"""The checks that bundles and exports share ("Verifying a bundle")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from .anchors import Anchor, Witnessed
from .attested import Evidence
from .forms import KEY_BYTES, Undecided, decode_bytes, parse_time, require
from .notes import Note, find_signer
from .strict_json import canonical
from .trust import CERTIFICATE_TYPE, Trust, find_trusted_keys, is_signed

TOLERANCE_MS = 300_000


class Context:
    """The evidence together with what the verifier has: trust, clock and anchors.

    `signer` is the trusted log key that signed the checkpoint, or None.
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
        self.signer = find_signer(evidence.note, evidence.origin, self.keys.until)
        self.beside, self._beside_signers = self._find_beside()
        self.witnessed = Witnessed(anchors, evidence.origin, evidence.chain, self.keys.until)
        self.anchored = self.witnessed.times(evidence.note)

    def _find_beside(self) -> tuple[dict[str, Note], list[bytes]]:
        """Return the one good checkpoint of each other chain, and all keys that signed one."""
        evidence, found, signers = self.evidence, {}, []
        for note in evidence.beside:
            signer = find_signer(note, evidence.origin, self.keys.until)
            if signer is None:
                continue
            signers.append(signer)
            chains = [other.chain for other in evidence.beside if other.origin == evidence.origin]
            if chains.count(note.chain) == 1:
                found[note.chain] = note
        return found, signers

    @property
    def beside_is_revoked(self) -> bool:
        """Say if a revoked log key signed a checkpoint of another chain."""
        return any(signer in self.trust.revoked for signer in self._beside_signers)

    @property
    def is_of_chain(self) -> bool:
        """Say if the checkpoint is of the chain of the evidence."""
        note, evidence = self.evidence.note, self.evidence
        return (note.origin, note.chain) == (evidence.origin, evidence.chain)

    @property
    def assurance(self) -> str:
        """`bracketed` when an anchor holds this checkpoint, else `self-asserted`."""
        return "bracketed" if self.anchored else "self-asserted"


def check_certificate(context: Context) -> None:
    """Check `certificate`."""
    evidence, certificate = context.evidence, context.evidence.certificate
    statement = certificate["statement"]
    require(statement["origin"] == evidence.origin, "the certificate is of another origin")
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
    if context.beside_is_revoked:
        raise Undecided("a log key that signed another chain is revoked")
    for key in (context.signed_by, context.signer):
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
    require(context.is_of_chain, "the checkpoint is of another chain")
    require(context.signer is not None, "no trusted log key has signed the checkpoint")
    if not context.keys.pinned:
        raise Undecided("no key is pinned for this origin")


def check_anchors(context: Context, earlier: Mapping[int, bytes]) -> None:
    """Check `anchors`. `earlier` has the roots that the evidence shows beside its checkpoint's."""
    note = context.evidence.note
    shown = {**earlier, note.size: note.root} if context.is_of_chain else {}
    context.witnessed.require_one_history(shown)


def check_times(context: Context, last_ts: Optional[str]) -> None:
    """Check `times`. `last_ts` is that of the last entry, if there is one."""
    exported_at = parse_time(context.evidence.exported_at, "exportedAt")
    require(
        exported_at <= context.now_ms + TOLERANCE_MS,
        "exportedAt is more than 300 s ahead of the clock",
    )
    if last_ts is None:
        return
    ts = parse_time(last_ts, "ts of the last entry")
    require(ts <= exported_at, "ts of the last entry is after exportedAt")
    until = None if context.signer is None else context.keys.until[context.signer]
    require(until is None or ts <= until, "ts of the last entry is after the log key's until")
    require(
        not context.anchored or ts <= min(context.anchored) + TOLERANCE_MS,
        "ts of the last entry is more than 300 s after an anchor of it",
    )
