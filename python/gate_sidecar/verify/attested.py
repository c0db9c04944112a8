"""Common members of a bundle and of the manifest of an export: their form, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .forms import (
    KEY_BYTES,
    SIGNATURE_BYTES,
    decode_bytes,
    parse_time,
    require,
    require_list,
    require_members,
    require_object,
    require_origin,
    require_text,
)
from .notes import Note, parse_note
from .strict_json import canonical

MAX_ROTATIONS = 1024
MAX_SIGNATURES = 16
MAX_ALGORITHM = 32


@dataclass(frozen=True)
class Evidence:
    """Common members of a bundle and of the manifest of an export, after the check `form`."""

    origin: str
    chain: str
    exported_at: str
    note: Note
    beside: tuple[Note, ...]
    certificate: dict[str, Any]
    rotations: list[dict[str, Any]]
    service: dict[str, Any]
    payload_type: str
    payload: bytes


def require_attested(whole: dict[str, Any], proof: dict[str, Any]) -> None:
    """Require the form of the common members. `proof` is the object with the certificate."""
    parse_time(whole["exportedAt"], "exportedAt")
    require_origin(proof["origin"], "origin")
    parse_note(proof["checkpoint"])
    require_certificate(proof["certificate"])
    _require_rotations(proof["rotations"])
    _require_signatures(whole["signatures"])


def evidence_of(
    whole: dict[str, Any],
    proof: dict[str, Any],
    chain: str,
    payload_type: str,
    beside: Sequence[str] = (),
) -> Evidence:
    """Return the common members. The form was checked before.

    `beside` has the checkpoints of other chains.
    """
    signed = {name: value for name, value in whole.items() if name != "signatures"}
    return Evidence(
        origin=proof["origin"],
        chain=chain,
        exported_at=whole["exportedAt"],
        note=parse_note(proof["checkpoint"]),
        beside=tuple(parse_note(note) for note in beside),
        certificate=proof["certificate"],
        rotations=proof["rotations"],
        service=whole["signatures"]["service"],
        payload_type=payload_type,
        payload=canonical(signed),
    )


def require_certificate(value: Any) -> None:
    """Require the form of a certificate."""
    require_members(value, ("statement", "signedBy", "signature"), "the certificate")
    statement = value["statement"]
    require_members(
        statement,
        ("origin", "purpose", "publicKey", "notBefore", "notAfter"),
        "the statement of the certificate",
    )
    require_origin(statement["origin"], "origin of the certificate")
    require(statement["purpose"] == "bundle", "the certificate has another purpose")
    for name in ("notBefore", "notAfter"):
        parse_time(statement[name], f"{name} of the certificate")
    decode_bytes(statement["publicKey"], KEY_BYTES, "publicKey of the certificate")
    decode_bytes(value["signedBy"], KEY_BYTES, "signedBy of the certificate")
    decode_bytes(value["signature"], SIGNATURE_BYTES, "the signature of the certificate")


def _require_rotations(value: Any) -> None:
    """Require the form of a list of rotations."""
    require_list(value, "rotations", most=MAX_ROTATIONS)
    different = {canonical(rotation) for rotation in value}
    require(len(different) == len(value), "a rotation occurs twice")
    for rotation in value:
        require_members(rotation, ("statement", "signatures"), "a rotation")
        statement, signatures = rotation["statement"], rotation["signatures"]
        require_members(statement, ("origin", "from", "to", "at"), "the statement of a rotation")
        require_members(signatures, ("from", "to"), "the signatures of a rotation")
        require_origin(statement["origin"], "origin of a rotation")
        parse_time(statement["at"], "at of a rotation")
        for side in ("from", "to"):
            decode_bytes(statement[side], KEY_BYTES, f"{side} of a rotation")
            decode_bytes(signatures[side], SIGNATURE_BYTES, "a signature of a rotation")


def _require_signatures(value: Any) -> None:
    """Require the form of `signatures`. Those that are not the service's are any objects."""
    require_object(value, "signatures")
    require(len(value) <= MAX_SIGNATURES, "there are more than 16 signatures")
    for signature in value.values():
        require_object(signature, "a signature")
    service = value.get("service")
    require_members(service, ("algorithm", "publicKey", "signature"), "signatures.service")
    require_text(service["algorithm"], "algorithm of signatures.service", MAX_ALGORITHM)
    decode_bytes(service["publicKey"], KEY_BYTES, "publicKey of signatures.service")
    decode_bytes(service["signature"], SIGNATURE_BYTES, "signature of signatures.service")
