"""Reads the data of an answer in any envelope."""

from __future__ import annotations

from typing import Any, Mapping

from ._errors import GateError
from ._json import parse_json


def read_answer(status: int, headers: Mapping[str, str], body: bytes, form: str) -> Any:
    """Return `data` of an answer; of a list in pages also `page`, with where it goes on.

    Raises GateError for a failure that the service reports, and for an answer of no sidecar.
    """
    told = _parsed(body)
    if not 200 <= status < 300:
        raise failure_in(status, headers, told)
    if form == "text":
        return _text(status, body)
    if form == "json" and told is not None:
        return told
    if told is not None and told.get("success") is True and _has_form(told, form):
        data = told["data"]
        if form == "cursor":
            return {"data": data.pop("items"), "page": data}
        return {"data": data, "page": told["page"]} if form == "page" else data
    raise malformed(status)


def _has_form(told: Mapping[str, Any], form: str) -> bool:
    data, page = told.get("data"), told.get("page")
    if form == "object":
        return isinstance(data, dict)
    if form == "cursor":
        return isinstance(data, dict) and isinstance(data.get("items"), list)
    return isinstance(data, list) and (form == "list" or isinstance(page, dict))


def _parsed(body: bytes) -> Any:
    """Return the object that JSON says, None for anything else."""
    try:
        value = parse_json(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _text(status: int, body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise malformed(status) from None


def failure_in(status: int, headers: Mapping[str, str], body: Any) -> GateError:
    """Return the failure in an answer, or the error that no sidecar gave it."""
    told = body or {}
    code, message, details = told.get("error"), told.get("message"), told.get("details")
    request_id, after = told.get("requestId"), headers.get("retry-after", "")
    if (
        told.get("success") is not False
        or not isinstance(code, str)
        or not isinstance(message, str)
    ):
        return malformed(status)
    # A newer service may have codes that this client does not know: they are told as they are.
    return GateError(
        code,
        message,
        status=status,
        details=details if isinstance(details, list) else None,
        request_id=request_id if isinstance(request_id, str) else None,
        retry_after=float(after) if after.isascii() and after.isdigit() else None,
    )


def malformed(status: int) -> GateError:
    """Return the error for what no sidecar answers.

    With 503 or 429 of a proxy before the sidecar, that status says whether to ask again.
    """
    message = f"The answer with status {status} is not from a sidecar, or is malformed."
    return GateError("malformed_answer", message, status=status)
