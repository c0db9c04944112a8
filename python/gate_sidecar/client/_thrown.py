"""Reads the text of an error that a tool raises."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple


def text_of(value: Any) -> Optional[str]:
    """Return the text of a value, or None if that fails."""
    try:
        return str(value)
    except Exception:
        return None


def said_by(error: BaseException) -> Tuple[List[Any], bool]:
    """Return the values that are read of an error, and whether they are all.

    More may remain, such as a body, notes, a cause, or inner errors.
    """
    text = text_of(error)
    if text is None:
        return [""], False
    further = [*error.args, *vars(error).values(), error.__cause__]
    if not error.__suppress_context__:
        further.append(error.__context__)

    def is_said(value: Any) -> bool:
        return value in text if isinstance(value, str) else type(value) in _TOLD

    numbers = [value for value in further if type(value) in (int, float)]
    return [text, *numbers], all(is_said(value) for value in further)


_TOLD = (int, float, bool, type(None))
