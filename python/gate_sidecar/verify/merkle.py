"""The tree ("The tree", "The export of a range"): RFC 6962, 2.1, with SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from .forms import require


def leaf_hash(entry_hash: bytes) -> bytes:
    """Return leaf(entryHash)."""
    return hashlib.sha256(b"\x00" + entry_hash).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return node(left, right)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def require_inclusion(
    entry_hash: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> None:
    """Verify an inclusion proof (RFC 9162, 2.1.3.2, with its names fn, sn, r)."""
    require(index < size, "the entry is not within the size of the checkpoint")
    fn, sn, r = index, size - 1, leaf_hash(entry_hash)
    for p in proof:
        require(sn != 0, "the inclusion proof is too long")
        if fn & 1 or fn == sn:
            r = node_hash(p, r)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node_hash(r, p)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, "the inclusion proof is too short")
    require(r == root, "the inclusion proof does not lead to the root")


def complete_subtrees(start: int, end: int) -> Iterator[int]:
    """Split the leaves [start, end) into complete subtrees; yield the k of their 2^k leaves."""
    while start < end:
        k = (end - start).bit_length() - 1
        if start != 0:
            k = min(k, (start & -start).bit_length() - 1)
        yield k
        start += 1 << k


class RangeRoot:
    """Finds the root from the subtrees left of a range, its leaves, and those right of it."""

    def __init__(self) -> None:
        self._subtrees: list[tuple[int, bytes]] = []

    def append(self, k: int, subtree: bytes) -> None:
        """Append a subtree of 2^k leaves. Join the last two while they have the same size."""
        while self._subtrees and self._subtrees[-1][0] == k:
            subtree = node_hash(self._subtrees.pop()[1], subtree)
            k += 1
        self._subtrees.append((k, subtree))

    def append_interval(self, start: int, end: int, hashes: Sequence[bytes]) -> None:
        """Append the complete subtrees of [start, end)."""
        sizes = list(complete_subtrees(start, end))
        require(len(sizes) == len(hashes), "the range does not have the right number of hashes")
        for k, subtree in zip(sizes, hashes):
            self.append(k, subtree)

    def root(self) -> bytes:
        """Fold from the right. The root of no leaves is the hash of nothing (RFC 6962, 2.1)."""
        if not self._subtrees:
            return hashlib.sha256(b"").digest()
        root = self._subtrees[-1][1]
        for _, left in reversed(self._subtrees[:-1]):
            root = node_hash(left, root)
        return root
