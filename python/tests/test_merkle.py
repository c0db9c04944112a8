"""Inclusion proofs and ranges against the definitions of RFC 6962, for all sizes up to 40."""

import hashlib
import unittest

from gate_sidecar.verify.forms import Refused
from gate_sidecar.verify.merkle import (
    RangeRoot,
    complete_subtrees,
    leaf_hash,
    node_hash,
    require_inclusion,
)

from . import signer

ENTRIES = [hashlib.sha256(b"%d" % number).digest() for number in range(40)]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]


class Inclusion(unittest.TestCase):
    def refused(self, *arguments: object) -> None:
        with self.assertRaises(Refused):
            require_inclusion(*arguments)  # type: ignore[arg-type]

    def test_all_sizes(self) -> None:
        for size in range(1, 41):
            root = signer.tree_root(LEAVES[:size])
            for index in range(size):
                proof = signer.tree_path(index, LEAVES[:size])
                require_inclusion(ENTRIES[index], index, size, proof, root)
                self.refused(ENTRIES[index - 1], index, size, proof, root) if size > 1 else None
                self.refused(ENTRIES[index], index, size, proof + [root], root)
                self.refused(ENTRIES[index], size, size, proof, root)
                if proof:
                    self.refused(ENTRIES[index], index, size, proof[:-1], root)
                    self.refused(ENTRIES[index], index, size, proof[::-1] + [root], root)
                for other in range(size):
                    if other != index:
                        self.refused(ENTRIES[index], other, size, proof, root)

    def test_a_node_is_no_leaf(self) -> None:
        root = signer.tree_root(LEAVES[:4])
        inner = LEAVES[0] + LEAVES[1]
        self.refused(inner, 0, 2, [signer.tree_root(LEAVES[2:4])], root)
        self.assertNotEqual(leaf_hash(inner), node_hash(LEAVES[0], LEAVES[1]))

    def test_a_longer_proof_to_a_root_above(self) -> None:
        for size in range(1, 41):
            above = node_hash(ENTRIES[0], signer.tree_root(LEAVES[:size]))
            for index in range(size):
                proof = [*signer.tree_path(index, LEAVES[:size]), ENTRIES[0]]
                self.refused(ENTRIES[index], index, size, proof, above)

    def test_empty_tree(self) -> None:
        self.refused(ENTRIES[0], 0, 0, [], hashlib.sha256(b"").digest())


class Range(unittest.TestCase):
    def root(self, first: int, end: int, size: int) -> bytes:
        tree = RangeRoot()
        tree.append_interval(0, first, signer.interval_roots(0, first, LEAVES))
        for leaf in LEAVES[first:end]:
            tree.append(0, leaf)
        tree.append_interval(end, size, signer.interval_roots(end, size, LEAVES))
        return tree.root()

    def test_all_ranges(self) -> None:
        for size in range(41):
            root = signer.tree_root(LEAVES[:size])
            for first in range(size + 1):
                for end in range(first, size + 1):
                    self.assertEqual(self.root(first, end, size), root, (first, end, size))

    def test_intervals(self) -> None:
        self.assertEqual(list(complete_subtrees(0, 0)), [])
        self.assertEqual(list(complete_subtrees(0, 11)), [3, 1, 0])
        self.assertEqual(list(complete_subtrees(5, 16)), [0, 1, 3])
        self.assertEqual(list(complete_subtrees(3, 6)), [0, 1])
        self.assertEqual(sum(1 << k for k in complete_subtrees(1, 2**53 - 1)), 2**53 - 2)

    def test_wrong_number_of_hashes(self) -> None:
        for hashes in ([], LEAVES[:2], LEAVES[:1] * 60):
            with self.assertRaises(Refused):
                RangeRoot().append_interval(0, 8, hashes)


if __name__ == "__main__":
    unittest.main()
