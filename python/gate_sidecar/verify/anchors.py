"""Anchors: checkpoints that were put where the service cannot take them back ("Anchors")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .forms import Refused, parse_time, require, require_members, require_one
from .notes import Note, find_signer, parse_note
from .strict_json import parse


@dataclass(frozen=True)
class Anchor:
    """A checkpoint that was put elsewhere, and when."""

    at: int
    note: Note


def read_anchors(data: bytes) -> list[Anchor]:
    """Read a file of anchors. Lines that do not have the form are passed over."""
    anchors = []
    for line in data.split(b"\n"):
        try:
            anchors.append(_read_anchor(line))
        except Refused:
            continue
    return anchors


def _read_anchor(line: bytes) -> Anchor:
    value = parse(line)
    require_members(value, ("at", "checkpoint", "v"), "an anchor")
    require_one(value["v"], "v of an anchor")
    return Anchor(parse_time(value["at"], "at of an anchor"), parse_note(value["checkpoint"]))


class Witnessed:
    """The anchors of one chain. Only those count that a trusted log key has signed.

    Verifying a signature takes long, so only of those is it verified on which something depends.
    """

    def __init__(
        self, anchors: Sequence[Anchor], origin: str, chain: str, keys: Iterable[bytes]
    ) -> None:
        self._origin = origin
        self._keys = list(keys)
        self._trees: dict[int, dict[bytes, list[Anchor]]] = {}
        for anchor in anchors:
            note = anchor.note
            if (note.origin, note.chain) == (origin, chain):
                of_size = self._trees.setdefault(note.size, {})
                of_size.setdefault(note.root, []).append(anchor)

    def times(self, note: Note) -> list[int]:
        """Return the times of the anchors that hold this checkpoint."""
        same = self._trees.get(note.size, {}).get(note.root, [])
        same = [anchor for anchor in same if anchor.note.text == note.text]
        return [anchor.at for anchor in same if self._counts(anchor)]

    def require_one_history(self, shown: Mapping[int, bytes]) -> None:
        """Require that no two trees of one size have different roots. `shown`: roots by size."""
        for size, of_size in self._trees.items():
            roots = {shown[size]} if size in shown else set()
            if len(roots | set(of_size)) < 2:
                continue
            roots |= {root for root, same in of_size.items() if any(map(self._counts, same))}
            require(len(roots) < 2, f"the log has two trees of {size} entries")

    def _counts(self, anchor: Anchor) -> bool:
        return find_signer(anchor.note, self._origin, self._keys) is not None
