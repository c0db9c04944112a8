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
MAX_PATH = 64
MAX_SECTIONS = 8

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ORIGIN = re.compile(r"[a-z0-9.-]{1,64}")
_CHAIN = re.compile(r"_system|[A-Za-z0-9][A-Za-z0-9_-]{0,62}/(live|test)(~[1-9][0-9]{0,6})?")
_ID = re.compile(r"[a-z]{3}_[0-9a-z]{1,60}")
_ACTION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")
_SECTION = re.compile(r"[a-z]{1,32}")
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


def require_list(value: Any, what: str, least: int = 0, most: int = MAX_INTEGER) -> None:
    """Require a list of so many items."""
    require(isinstance(value, list), f"{what} is not a list")
    require(least <= len(value) <= most, f"{what} does not have {least} to {most} items")


def require_text(value: Any, what: str, most: int = MAX_INTEGER) -> None:
    """Require a string of at most so many characters."""
    require(isinstance(value, str), f"{what} is not a string")
    require(len(value) <= most, f"{what} has more than {most} characters")


def require_texts(value: Any, what: str) -> None:
    """Require a list of strings."""
    require_list(value, what)
    for item in value:
        require_text(item, f"an item of {what}")


def _require_match(value: Any, form: re.Pattern[str], what: str, called: str) -> None:
    require_text(value, what)
    require(form.fullmatch(value) is not None, f"{what} is not {called}")


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
    """Require the name of an instance ("Forms")."""
    _require_match(value, _ORIGIN, what, "an origin")


def require_chain(value: Any, what: str) -> None:
    """Require the name of a chain ("Forms")."""
    _require_match(value, _CHAIN, what, "the name of a chain")


def require_id(value: Any, what: str) -> None:
    """Require an id ("Forms")."""
    _require_match(value, _ID, what, "an id")


def require_action(value: Any, what: str) -> None:
    """Require the name of an action, or the type of an entry ("Forms")."""
    _require_match(value, _ACTION, what, "the name of an action")


def require_sections(value: Any, what: str) -> None:
    """Require an object by names of sections ("Forms")."""
    require_object(value, what)
    require(len(value) <= MAX_SECTIONS, f"{what} has more than {MAX_SECTIONS} sections")
    for name in value:
        _require_match(name, _SECTION, f"a name in {what}", "the name of a section")


def require_digest(value: Any, what: str) -> None:
    """Require the text form of a SHA-256 digest. It is unique, so texts may be compared."""
    _require_match(value, _DIGEST, what, "sha256: and 64 hex digits")


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
    """Decode a path of hashes in base64."""
    require_list(value, what, most=MAX_PATH)
    return [decode_bytes(item, HASH_BYTES, f"a hash of {what}") for item in value]


def parse_time(value: Any, what: str) -> int:
    """Return the milliseconds since 1970 of a time ("Forms"). It must be a real one."""
    require_text(value, what)
    match = _TIME.fullmatch(value)
    require(match is not None, f"{what} is not a time")
    assert match is not None
    require(match.group(1) >= "1970", f"{what} is before 1970")
    year, month, day, hour, minute, second, millisecond = (int(part) for part in match.groups())
    try:
        time = datetime(
            year, month, day, hour, minute, second, millisecond * 1000, tzinfo=timezone.utc
        )
    except ValueError:
        raise Refused(f"{what} is not a real time") from None
    return (time - _EPOCH) // timedelta(milliseconds=1)
