"""JSON as the service reads it, written as ECMAScript writes it: 10.0 is 10."""

from __future__ import annotations

import json
import math
from datetime import datetime, timezone
from collections.abc import Mapping
from typing import Any

from ..verify.strict_json import number_text
from ._errors import GateError, invalid_request


def json_bytes(value: Any) -> bytes:
    """Return a request as JSON.

    Raises GateError `invalid_request` for what has none, so that nothing is sent: NaN, decimals,
    times without a time zone, keys that are no text, what contains itself.
    """
    try:
        return _text(value, "").encode("utf-8")
    except RecursionError:
        raise invalid_request("The request is nested too deep to be written as JSON.") from None
    except UnicodeEncodeError:
        raise invalid_request("The request has a lone surrogate, which has no UTF-8.") from None


def _text(value: Any, path: str) -> str:
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _float_text(float(value), path)
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise _no_json(path, "is a time without a time zone")
        return json.dumps(time_text(value))
    if isinstance(value, Mapping):
        pairs = (
            f"{_name(key, path)}:{_text(item, f'{path}/{key}')}" for key, item in value.items()
        )
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_text(item, f"{path}/{i}") for i, item in enumerate(value)) + "]"
    raise _no_json(path, f"is of the type {type(value).__name__}")


def time_text(value: datetime) -> str:
    """Return a time with a zone as every client writes it: in UTC, with whole milliseconds."""
    utc = value.astimezone(timezone.utc).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='milliseconds')}Z"


def _float_text(number: float, path: str) -> str:
    if not math.isfinite(number):
        raise _no_json(path, f"is {number}")
    return number_text(number)


def _name(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise _no_json(path, f"has a key of the type {type(key).__name__}")
    return json.dumps(key, ensure_ascii=False)


def _no_json(path: str, what: str) -> GateError:
    message = f"The request cannot be written as JSON: {path or 'it'} {what}."
    error = invalid_request(message)
    error.details = [{"path": path, "message": f"{what}, which JSON does not have"}]
    return error


def parse_json(data: bytes) -> Any:
    """Return what JSON says. Raises ValueError, also where it is nested too deep to be read."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("nested too deep") from None


def refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which Python would accept."""
    raise ValueError(f"{name} is not JSON")
