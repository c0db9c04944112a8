"""Strict JSON ("Notation") and its canonical form (RFC 8785)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from .forms import MAX_INTEGER, Refused, require

MAX_BYTES = 64 * 1024 * 1024
MAX_NESTING = 64


def parse(data: bytes) -> Any:
    """Parse strict JSON. Refuse everything that "Notation" lists."""
    require(len(data) <= MAX_BYTES, "the JSON has more than 64 MiB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("the JSON is not UTF-8") from None
    require(not text.startswith("\ufeff"), "the JSON begins with a byte order mark")
    try:
        value = _DECODER.decode(text)
    except Refused:
        raise
    except json.JSONDecodeError as why:
        raise Refused(f"it is not JSON: {why.msg} (at character {why.pos})") from None
    except ValueError:
        raise Refused("it is not JSON") from None
    except RecursionError:
        raise Refused("the JSON has more than 64 levels of nesting") from None
    _inspect(value, 0)
    return value


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse members that occur twice, and `__proto__`."""
    members = dict(pairs)
    require(len(members) == len(pairs), "the JSON has a member twice")
    require("__proto__" not in members, "the JSON has a member __proto__")
    return members


def _parse_integer(text: str) -> int:
    """Refuse integers outside of ±(2^53 - 1). 17 characters are enough for those inside."""
    require(len(text) <= 17 and abs(int(text)) <= MAX_INTEGER, "the JSON has too large an integer")
    return int(text)


def _parse_fraction(text: str) -> Any:
    """Parse a number with a fraction or an exponent. 5.0 and 5 are the same number, as in JSON."""
    number = float(text)
    require(abs(number) != float("inf"), "the JSON has a number that overflows")
    if not number.is_integer():
        return number
    require(abs(number) <= MAX_INTEGER, "the JSON has too large an integer")
    return int(number)


def _refuse_constant(_: str) -> Any:
    """Refuse NaN and Infinity, which Python would accept."""
    raise Refused("it is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_parse_object,
    parse_int=_parse_integer,
    parse_float=_parse_fraction,
    parse_constant=_refuse_constant,
)


def _inspect(value: Any, level: int) -> None:
    """Refuse lone surrogates, and nesting of more than 64 levels."""
    if isinstance(value, str):
        _inspect_text(value)
    elif isinstance(value, (dict, list)):
        require(level < MAX_NESTING, "the JSON has more than 64 levels of nesting")
        if isinstance(value, dict):
            for name in value:
                _inspect_text(name)
        for item in value.values() if isinstance(value, dict) else value:
            _inspect(item, level + 1)


def _inspect_text(text: str) -> None:
    """Refuse lone surrogates, which have no UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("the JSON has a lone surrogate") from None


def canonical(value: Any) -> bytes:
    """Return the canonical JSON text (RFC 8785) of a value from `parse`, as UTF-8."""
    return _canonical_text(value).encode("utf-8")


def _canonical_text(value: Any) -> str:
    if isinstance(value, dict):
        names = sorted(value, key=_utf16_units)
        pairs = (_string_text(name) + ":" + _canonical_text(value[name]) for name in names)
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_canonical_text(item) for item in value) + "]"
    if isinstance(value, str):
        return _string_text(value)
    if isinstance(value, float):
        return number_text(value)
    return json.dumps(value)  # null, true, false and integers are as in ECMAScript


def _utf16_units(name: str) -> bytes:
    """Return a sort key in the order of the UTF-16 code units (RFC 8785, 3.2.3)."""
    return name.encode("utf-16-be")


def _string_text(text: str) -> str:
    """Print a string (RFC 8785, 3.2.2.2): Python escapes as ECMAScript does."""
    return json.dumps(text, ensure_ascii=False)


def number_text(number: float) -> str:
    """Print a number as ECMAScript does (ECMA-262, Number::toString; RFC 8785, 3.2.2.3).

    Python's `repr` has the same shortest digits. Only the notation differs.
    With the names of ECMA-262: the digits are s, their count k, and the value is 0.s * 10^n.
    """
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    decimal = Decimal(repr(abs(number))).as_tuple()
    all_digits = "".join(str(digit) for digit in decimal.digits)
    n = len(all_digits) + int(decimal.exponent)
    digits = all_digits.rstrip("0")
    k = len(digits)
    if k <= n <= 21:
        return sign + digits + "0" * (n - k)
    if 0 < n <= 21:
        return sign + digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return sign + "0." + "0" * -n + digits
    fraction = "." + digits[1:] if k > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{n - 1:+d}"
