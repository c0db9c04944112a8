"""Texts that an agent has read in a session, and their authors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Callable, Dict, Iterator, List, Literal, Sequence, Set, Tuple

from ..verify.strict_json import number_text
from ._json import refuse_constant, time_text
from ._texts import Texts, unescaped

Origin = Literal["user", "tool", "third_party", "model", "const"]
"""First origin of a value."""

_MAX_READ = 16 * 1024 * 1024
"""Limit of the results' text that is kept for the search, in UTF-16 units."""
_MAX_SAID = 128 * 1024
"""Limit of the user's text, which each request sends whole: 1 MiB is accepted, and a unit can take
6 bytes."""
_MAX_SEARCHED = 64 * 1024 * 1024
"""Limit of the text searched for one check: more would hold up everything else."""
_SEPARATOR = "\0"
"""Separator of the values of one result."""
_MAX_NESTED = 4
"""Limit of the levels of JSON within JSON that are decoded."""
_MAX_DEPTH = 256
"""Limit of a result's nesting."""
_JSON_BEGINS = re.compile(r"\s*[\[{]")
Path = Tuple[str, ...]


class Provenance:
    """Texts that were said and read in a session, and their authors.

    - `is_tainted` once others may have written any part of a result.
    - The origin of a value is where it first occurs verbatim: `user` in the user's words, else
      `tool` or `third_party` by the first result that has it, else `model`. True, False, None and
      the empty text carry no information: `const`. Numbers are searched for as JSON writes them:
      10.0 is 10.
    - In a list or an object, each inner value counts.

    In a tainted session a value that is not found is `third_party` when some text that was read is
    unknown here, or when the search was cut off.
    """

    def __init__(self, user_request: str) -> None:
        self._said: Texts[Origin] = Texts(_MAX_SAID)
        self._read: Texts[Origin] = Texts(_MAX_READ)
        self.is_incomplete = False
        """True when more was read than is kept, or can be read here."""
        self.is_tainted = False
        self.user_says(user_request)

    @property
    def user_request(self) -> str:
        """All that the user said."""
        return "\n\n".join(text for text, _, _ in self._said)

    def user_says(self, text: str) -> None:
        """Take in the words of the user. Repeated text is kept once."""
        if text:
            self._said.add(text, "user")

    def observe(self, result: Any, *, trusted: bool, untrusted: Sequence[str] = ()) -> None:
        """Take in what a tool answered; what is known already changes nothing.

        Raises TypeError for what is not made of JSON values.
        """
        if isinstance(untrusted, str):
            raise TypeError("untrusted is a list of paths, not one path")
        patterns = [tuple(path.split(".")) for path in untrusted]

        def is_of_others(path: Path) -> bool:
            return not trusted or any(_covers(pattern, path) for pattern in patterns)

        own: List[str] = []
        others: List[str] = []
        parsed: Any = None
        try:
            parsed = _parsed(result)
            for path, text in _texts(parsed, ()):
                (others if is_of_others(path) else own).append(text)
        except RecursionError:
            # A result nested too deep to read may hold anything, from anybody.
            own.clear()
            self.read_unseen()
            trusted = False
        if isinstance(result, str) and parsed is not result:
            # Adds the raw text too, since JSON escapes make it differ from its values.
            (others if others or is_of_others(()) else own).append(result)
        self.is_tainted = self.is_tainted or bool(others)
        # A text in both is found in the trusted part first.
        self._keep("tool", own)
        self._keep("third_party", others)

    def read_unseen(self) -> None:
        """Record that the model has read text of others that is unknown here."""
        self.is_tainted = self.is_incomplete = True

    def of(self, args: Mapping[str, Any]) -> Dict[str, List[Origin]]:
        """Return for each argument the origins of its values, sorted, each once."""
        origin_of = self._search()

        def origins(value: Any) -> List[Origin]:
            found: Set[Origin] = {origin_of(leaf) for leaf in _leaves(value)}
            return sorted(found) if found else ["const"]

        return {name: origins(value) for name, value in args.items()}

    def _search(self) -> Callable[[Any], Origin]:
        """Return what finds the values of one check, each of which is searched for once."""
        found: Dict[str, Origin] = {}
        unknown: Origin = "third_party" if self.is_tainted else "model"
        left = _MAX_SEARCHED

        def search(value: str) -> Origin:
            nonlocal left
            for texts in (self._said, self._read):
                for text, origin, size in texts:
                    if size > left:
                        return unknown
                    left -= size
                    if value in text:
                        return origin
            return unknown if self.is_incomplete else "model"

        def origin_of(value: Any) -> Origin:
            if value is None or value == "" or isinstance(value, bool):
                return "const"
            text = _written(value)
            if text not in found:
                found[text] = search(text)
            return found[text]

        return origin_of

    def _keep(self, origin: Origin, texts: List[str]) -> None:
        """Keep texts as they were read, and as JSON that stands within them says them."""
        text, said = "", _SEPARATOR.join(texts)
        for _ in range(1 + _MAX_NESTED):
            if said == text:
                return
            text = said
            if not self._read.add(text, origin):
                self.is_incomplete = True
            said = unescaped(text)
        self.is_incomplete = self.is_incomplete or said != text


def _parsed(result: Any) -> Any:
    """Return what a text says that is JSON; anything else as it is."""
    if not isinstance(result, str) or _JSON_BEGINS.match(result) is None:
        return result
    try:
        return json.loads(result, parse_constant=refuse_constant)
    except ValueError:
        return result


def _texts(value: Any, path: Path) -> Iterator[Tuple[Path, str]]:
    """Give the values within a result as texts, and the names of members: they are read too.

    Raises RecursionError for what is nested too deep.
    """
    if len(path) > _MAX_DEPTH:
        raise RecursionError
    if isinstance(value, Mapping):
        for name, item in value.items():
            inner = (*path, str(name))
            yield inner, str(name)
            yield from _texts(item, inner)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _texts(item, (*path, str(i)))
    elif value is None or isinstance(value, (str, bool, int, float)) or _is_time(value):
        yield path, _written(value)
    else:
        what = f"a result holds {type(value).__name__}, which JSON does not have"
        raise TypeError(f"{what}: observe it as the model reads it")


def _leaves(value: Any) -> Iterator[Any]:
    """Give the values within an argument."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _written(value: Any) -> str:
    """Return a value as ECMAScript writes it. Integers have all their digits."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float):
        return number_text(value) if math.isfinite(value) else _NOT_FINITE[str(value)]
    return time_text(value) if isinstance(value, datetime) else str(value)


def _is_time(value: Any) -> bool:
    return isinstance(value, datetime) and value.utcoffset() is not None


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _covers(pattern: Path, path: Path) -> bool:
    """Say if the pattern names the path or what contains it; `*` is any one name."""
    return len(pattern) <= len(path) and all(
        name in ("*", part) for name, part in zip(pattern, path)
    )
