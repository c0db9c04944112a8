"""The simple forms of the specification: members, text, base64, digests and times."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

MAX_INTEGER = 2**53 - 1
KEY_BYTES = 32
HASH_BYTES = 32
SALT_BYTES = 32
SIGNATURE_BYTES = 64

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ORIGIN = re.compile(r"[a-z0-9.-]{1,64}")
_CHAIN = re.compile(r"_system|[^/\s\x00-\x1f\x7f]+/(live|test)")
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Refused(ValueError):
    """The evidence does not have the required form or fails a check. The text says why."""


class Undecided(Exception):
    """A check cannot be decided with what the verifier has. The text says why."""


def require(condition: bool, why: str) -> None:
    """Refuse with the reason `why` if the condition is false."""
    if not condition:
        raise Refused(why)


def require_members(value: Any, names: Iterable[str], what: str) -> None:
    """Require an object with exactly these members."""
    require(isinstance(value, dict), f"{what} is not an object")
    require(set(value) == set(names), f"{what} does not have exactly its listed members")


def require_object(value: Any, what: str) -> None:
    """Require an object, whatever its members."""
    require(isinstance(value, dict), f"{what} is not an object")


def require_list(value: Any, what: str) -> None:
    """Require a list."""
    require(isinstance(value, list), f"{what} is not a list")


def require_text(value: Any, what: str) -> None:
    """Require a string."""
    require(isinstance(value, str), f"{what} is not a string")


def require_one(value: Any, what: str) -> None:
    """Require the number 1. In Python, True equals 1: it is refused here."""
    require(is_integer(value) and value == 1, f"{what} is not 1")


def is_integer(value: Any) -> bool:
    """Say if this is an integer and not a boolean."""
    return type(value) is int


def require_count(value: Any, what: str) -> None:
    """Require an integer from 0 to 2^53 - 1."""
    require(is_integer(value) and 0 <= value <= MAX_INTEGER, f"{what} is not a count")


def require_origin(value: Any, what: str) -> None:
    """Require the name of an instance ("Chains and entries")."""
    require_text(value, what)
    require(_ORIGIN.fullmatch(value) is not None, f"{what} is not an origin")


def require_chain(value: Any, what: str) -> None:
    """Require the name of a chain ("Chains and entries")."""
    require_text(value, what)
    require(_CHAIN.fullmatch(value) is not None, f"{what} is not the name of a chain")


def require_digest(value: Any, what: str) -> None:
    """Require the text form of a SHA-256 digest. It is unique, so texts may be compared."""
    require_text(value, what)
    require(_DIGEST.fullmatch(value) is not None, f"{what} is not sha256: and 64 hex digits")


def decode_base64(value: Any, what: str) -> bytes:
    """Decode canonical, padded, standard base64 (RFC 4648, 4)."""
    require_text(value, what)
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise Refused(f"{what} is not base64") from None
    require(base64.b64encode(decoded).decode("ascii") == value, f"{what} is not canonical base64")
    return decoded


def decode_bytes(value: Any, length: int, what: str) -> bytes:
    """Decode base64 of exactly `length` bytes."""
    decoded = decode_base64(value, what)
    require(len(decoded) == length, f"{what} does not have {length} bytes")
    return decoded


def decode_hashes(value: Any, what: str) -> list[bytes]:
    """Decode a list of hashes in base64."""
    require_list(value, what)
    return [decode_bytes(item, HASH_BYTES, f"a hash of {what}") for item in value]


def parse_time(value: Any, what: str) -> int:
    """Return the milliseconds since 1970 of a time ("Notation"). The date must be a real one."""
    require_text(value, what)
    match = _TIME.fullmatch(value)
    require(match is not None, f"{what} is not a time")
    assert match is not None
    year, month, day, hour, minute, second, millisecond = (int(part) for part in match.groups())
    try:
        time = datetime(
            year, month, day, hour, minute, second, millisecond * 1000, tzinfo=timezone.utc
        )
    except ValueError:
        raise Refused(f"{what} is not a real time") from None
    return (time - _EPOCH) // timedelta(milliseconds=1)
