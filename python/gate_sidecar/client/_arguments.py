"""The arguments of a call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Dict

from ._errors import GateError, invalid_request

_MAX_DEPTH = 64
"""Nobody walks deeper ones. The service takes fewer levels, and says so."""


def own_copy(args: Any) -> Dict[str, Any]:
    """Return a copy that nobody else holds: what runs with it is what was asked about.

    Raises GateError `invalid_request` for anything but a mapping, and for values without JSON.
    """
    if not isinstance(args, Mapping):
        raise _unfit("arguments that are not a mapping")
    copied: Dict[str, Any] = _copy(args, 0)
    return copied


def _copy(value: Any, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise _unfit(f"arguments with more than {_MAX_DEPTH} levels")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return value
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: _copy(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_copy(item, depth + 1) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    raise _unfit(f"a value of the type {type(value).__name__}")


def _unfit(what: str) -> GateError:
    return invalid_request(f"The gate cannot check {what}.")
