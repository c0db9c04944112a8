"""Texts that are kept to search in."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Generic, Iterator, Tuple, TypeVar

_OVERHEAD = 64
"""Size of a text beyond its units: the cost of storing it and of starting a search."""

Kind = TypeVar("Kind")


class Texts(Generic[Kind]):
    """Distinct texts with their kind, in order of arrival.

    Beyond the limit the oldest are dropped. Sizes are in UTF-16 units, as every client counts them,
    plus an overhead for each text.
    """

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._kept: OrderedDict[str, Tuple[Kind, int]] = OrderedDict()
        self._size = 0

    def add(self, text: str, kind: Kind) -> bool:
        """Add a text; a known one keeps its kind. Return False when text was dropped."""
        if text in self._kept:
            return True
        size = _size_of(text)
        if size > self._max_size:
            return False
        self._kept[text] = (kind, size)
        self._size += size
        is_all = self._size <= self._max_size
        while self._size > self._max_size:
            self._size -= self._kept.popitem(last=False)[1][1]
        return is_all

    def __iter__(self) -> Iterator[Tuple[str, Kind, int]]:
        """Give each text with its kind and its size."""
        for text, (kind, size) in self._kept.items():
            yield text, kind, size


def _size_of(text: str) -> int:
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return units + _OVERHEAD


_ESCAPE = re.compile(r"\\(?:([\"\\/bfnrt])|u([0-9a-fA-F]{4}))")
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescaped(text: str) -> str:
    """Return what a text says whose escapes are those of JSON (RFC 8259, section 7)."""

    def said(escape: re.Match[str]) -> str:
        name, unit = escape.groups()
        return chr(int(unit, 16)) if name is None else _CONTROLS.get(name, name)

    units = _ESCAPE.sub(said, text).encode("utf-16-le", "surrogatepass")
    # Two escapes can be one character.
    return units.decode("utf-16-le", "surrogatepass")
