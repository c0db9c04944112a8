"""Trust of a verifier: signed statements, the trust file and rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from . import ed25519
from .forms import (
    KEY_BYTES,
    SIGNATURE_BYTES,
    decode_bytes,
    parse_time,
    require,
    require_list,
    require_members,
    require_one,
    require_origin,
    require_text,
)
from .notes import SIGNATURE_TYPE_ED25519, key_id
from .strict_json import canonical, parse

CERTIFICATE_TYPE = "application/vnd.gate-sidecar.key-certificate.v1+json"
ROTATION_TYPE = "application/vnd.gate-sidecar.key-rotation.v1+json"

MAX_KEYS = 1024


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return PAE(T, P), what a signature of a statement is over ("Keys")."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def is_signed(payload_type: str, payload: bytes, public_key: str, signature: str) -> bool:
    """Say if the signature of a statement is good. Key and signature are in base64."""
    return ed25519.verify(
        decode_bytes(public_key, KEY_BYTES, "a public key"),
        pre_authentication_encoding(payload_type, payload),
        decode_bytes(signature, SIGNATURE_BYTES, "a signature"),
    )


@dataclass
class Trust:
    """A trust file. `log_keys` has, by origin and public key, the time `until` or None."""

    log_keys: dict[str, dict[bytes, Optional[int]]] = field(default_factory=dict)
    revoked: dict[bytes, int] = field(default_factory=dict)


def read_trust(data: bytes) -> Trust:
    """Read a trust file ("The trust file"). A key that is not good is refused."""
    value = parse(data)
    require_members(value, ("v", "logKeys", "revoked"), "the trust file")
    require_one(value["v"], "v of the trust file")
    require_list(value["logKeys"], "logKeys", most=MAX_KEYS)
    require_list(value["revoked"], "revoked", most=MAX_KEYS)
    trust = Trust()
    for item in value["logKeys"]:
        _read_log_key(trust, item)
    for item in value["revoked"]:
        _read_revoked(trust, item)
    return trust


def _read_log_key(trust: Trust, item: Any) -> None:
    require_members(item, ("vkey", "until"), "a log key")
    require_text(item["vkey"], "a vkey", 256)
    parts = item["vkey"].split("+", 2)  # base64 may have a "+" too
    require(len(parts) == 3, "a vkey does not have three parts")
    origin = parts[0]
    require_origin(origin, "the name of a vkey")
    data = decode_bytes(parts[2], 1 + KEY_BYTES, "the key of a vkey")
    public_key = data[1:]
    require(data[:1] == SIGNATURE_TYPE_ED25519, "a vkey is not of an Ed25519 key")
    require(parts[1] == key_id(origin, public_key).hex(), "a vkey does not have its keyId")
    require(ed25519.is_good_key(public_key), "the key of a vkey is not a good Ed25519 key")
    keys = trust.log_keys.setdefault(origin, {})
    require(public_key not in keys, "the trust file has a log key twice")
    keys[public_key] = None if item["until"] is None else parse_time(item["until"], "until")


def _read_revoked(trust: Trust, item: Any) -> None:
    require_members(item, ("publicKey", "since"), "a revoked key")
    public_key = decode_bytes(item["publicKey"], KEY_BYTES, "a revoked key")
    require(public_key not in trust.revoked, "the trust file has a revoked key twice")
    trust.revoked[public_key] = parse_time(item["since"], "since")


@dataclass
class TrustedKeys:
    """The log keys trusted for one origin, with their `until`, and if they are pinned."""

    until: dict[bytes, Optional[int]]
    pinned: bool


def find_trusted_keys(
    trust: Trust, origin: str, certificate: dict[str, Any], rotations: Sequence[dict[str, Any]]
) -> TrustedKeys:
    """Find which log keys are trusted for an origin ("Which log keys are trusted")."""
    own = [item for item in rotations if item["statement"]["origin"] == origin]
    if origin not in trust.log_keys:
        return TrustedKeys(dict.fromkeys(_named_keys(certificate, own)), pinned=False)
    keys = TrustedKeys(dict(trust.log_keys[origin]), pinned=True)
    known = 0
    while known < len(keys.until):
        known = len(keys.until)
        for rotation in list(own):
            if not _adds_key(trust, keys, rotation):
                continue
            # Verifying takes a while: a rotation that leads nowhere is not verified.
            if _is_good_rotation(rotation):
                _apply_rotation(keys, rotation)
            own.remove(rotation)
    return keys


def _named_keys(certificate: dict[str, Any], rotations: Sequence[dict[str, Any]]) -> list[bytes]:
    """Return the log keys that unpinned evidence names itself."""
    named = [decode_bytes(certificate["signedBy"], KEY_BYTES, "signedBy")]
    for rotation in rotations:
        named += _sides(rotation)
    return named


def _sides(rotation: dict[str, Any]) -> list[bytes]:
    """Return the keys `from` and `to` of a rotation."""
    statement = rotation["statement"]
    return [decode_bytes(statement[side], KEY_BYTES, side) for side in ("from", "to")]


def _adds_key(trust: Trust, keys: TrustedKeys, rotation: dict[str, Any]) -> bool:
    """Say if a rotation, if it is good, adds a trusted key."""
    old, new = _sides(rotation)
    if old in keys.until and new not in keys.until:
        return keys.until[old] is None and old not in trust.revoked
    if new in keys.until and old not in keys.until:
        until = keys.until[new]
        return new not in trust.revoked and (until is None or _time_of(rotation) <= until)
    return False


def _is_good_rotation(rotation: dict[str, Any]) -> bool:
    """Say if both signatures are good."""
    statement, signatures = rotation["statement"], rotation["signatures"]
    payload = canonical(statement)
    return all(
        is_signed(ROTATION_TYPE, payload, statement[side], signatures[side])
        for side in ("from", "to")
    )


def _apply_rotation(keys: TrustedKeys, rotation: dict[str, Any]) -> None:
    """Add the key of a rotation that is not yet known. The older one gets `at` as `until`."""
    old, new = _sides(rotation)
    keys.until[old] = _time_of(rotation)
    keys.until.setdefault(new, None)


def _time_of(rotation: dict[str, Any]) -> int:
    return parse_time(rotation["statement"]["at"], "at of a rotation")
