"""No bundle, envelope or manifest with a single changed field is valid."""

import copy
import json
import random
import tempfile
import unittest
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Callable, Union
from unittest import mock

from gate_sidecar.verify import (
    Refused,
    ed25519,
    read_anchors,
    read_trust,
    verify_bundle,
    verify_export,
)
from gate_sidecar.verify.export import parse_entry

from . import signer
from .signer import NOW_MS, Json, Scene, sign_bundle, sign_manifest
from .tier import FULL, some

Path = tuple[Union[str, int], ...]

TRUST = read_trust(signer.trust_file())

# Places that a holder of the bundle key may change: the name of the bundle, the time of the export
# within that of the certificate, which entries of the approval are left out, if the rest still has
# a quorum, and rotations that add nothing. All else is fixed by the log, or by the form.
FREE_TO_THE_BUNDLE_KEY = {
    ("bundleId",),
    ("exportedAt",),
    ("proof", "approval"),
    ("proof", "rotations"),
}


def mutations(value: Any, path: Path = ()) -> Iterator[tuple[Path, Callable[[Any], Any]]]:
    """Each place of a value, with functions that change what is there."""
    for changed in _others(value):
        yield path, lambda _, changed=changed: copy.deepcopy(changed)
    if isinstance(value, (dict, list)):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for name, member in members:
            yield from mutations(member, (*path, name))


def _others(value: Any) -> list[Any]:
    """Other values for a place, of the same and of other types."""
    if isinstance(value, dict):
        less = [{k: v for k, v in value.items() if k != name} for name in value]
        return [None, [], {**value, "zz": 1}, *less]
    if isinstance(value, list):
        less = [value[:i] + value[i + 1 :] for i in range(len(value))]
        return [None, {}, [*value, 1], *less, *([value + value[-1:]] if value else [])]
    if isinstance(value, bool):
        return [None, not value, int(value)]
    if isinstance(value, (int, float)):
        return [None, value + 1, value - 1, str(value), bool(value)]
    if isinstance(value, str):
        places = sorted({0, len(value) // 2, len(value) - 1} - {-1})
        flipped = [value[:i] + _next(value[i]) + value[i + 1 :] for i in places]
        return [None, 1, value + "0", value[:-1] or "x", *flipped]
    return [0, "", {}]


def _next(letter: str) -> str:
    """Another letter of the same kind."""
    if letter in "9zZ":
        return chr(ord(letter) - 1)
    return "A" if letter in "/=+\n" else chr(ord(letter) + 1)


def changed(document: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    document = copy.deepcopy(document)
    if not path:
        return change(document)
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = change(place[path[-1]])
    return document


# Values whose form the document leaves open.
OPEN = [
    ("context", "originalRequest"),
    ("context", "riskAssessment"),
    ("proof", "grounds"),
    ("proof", "approval", 0, "data"),
    ("proof", "approval", 1, "data"),
    ("proof", "approval", 2, "data"),
    ("proof", "keys", 0, "data"),
    ("proof", "keys", 1, "data"),
    ("proof", "keys", 2, "data"),
]


def wrong_forms(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Each place of a document, with values that never have the right form there."""
    yield path, None
    yield path, 1.5
    if isinstance(value, list):
        yield path, {}
        for number, item in enumerate(value):
            yield from wrong_forms(item, (*path, number))
    elif isinstance(value, dict) and path not in OPEN:
        yield path, []
        if path != ("signatures",):
            yield path, {**value, "zz": 1}
        for name, item in value.items():
            if path[-1:] != ("commits",):
                yield path, {other: value[other] for other in value if other != name}
            yield from wrong_forms(item, (*path, name))


class Case(unittest.TestCase):
    def setUp(self) -> None:
        """Verify each signature once: most of them are the same in all mutations."""
        remembered = mock.patch.object(ed25519, "verify", lru_cache(None)(ed25519.verify))
        remembered.start()
        self.addCleanup(remembered.stop)


class Bundles(Case):
    def documents(self) -> Iterator[Json]:
        yield Scene().bundle()
        step = signer.rotation(signer.LOG_KEY, signer.NEXT_LOG_KEY)
        rotated = Scene(log_key=signer.NEXT_LOG_KEY)
        yield rotated.bundle(rotations=[step], redacted=["risk"], entries=1)

    def is_valid(self, bundle: Any) -> bool:
        data = json.dumps(bundle).encode()
        return verify_bundle(data, TRUST, NOW_MS, []).verdict == "valid"

    def test_bundle(self) -> None:
        for document in self.documents():
            self.assertTrue(self.is_valid(document))
            count = 0
            for path, change in some(mutations(document)):
                mutated = changed(document, path, change)
                self.assertFalse(self.is_valid(mutated), path)
                count += 1
            self.assertGreater(count, 500 if FULL else 50)

    def test_bundle_signed_again_with_the_bundle_key(self) -> None:
        for document in self.documents():
            found = set()
            statement = {k: v for k, v in document.items() if k != "signatures"}
            for path, change in some(mutations(statement)):
                mutated = changed(statement, path, change)
                if isinstance(mutated, dict) and self.is_valid(sign_bundle(mutated)):
                    found.add(path)
            self.assertLessEqual(found, FREE_TO_THE_BUNDLE_KEY)

    def test_wrong_forms(self) -> None:
        step = signer.rotation(signer.LOG_KEY, signer.NEXT_LOG_KEY)
        document = Scene().bundle(rotations=[step])
        for path, wrong in some(wrong_forms(document)):
            if path == ("proof", "openings") and isinstance(wrong, dict) and "zz" not in wrong:
                if {"decision", "grounds"} <= set(wrong):
                    continue  # that it is not redacted is found by the check of openings
            mutated = changed(document, path, lambda _, wrong=wrong: wrong)
            report = verify_bundle(json.dumps(mutated).encode(), TRUST, NOW_MS, [])
            self.assertEqual(report.checks[0].result, "failed", (path, wrong))

    def test_envelope(self) -> None:
        document = signer.envelope(Scene().bundle())
        self.assertTrue(self.is_valid(document))
        for path, change in some(mutations(document)):
            self.assertFalse(self.is_valid(changed(document, path, change)), path)

    def test_bytes(self) -> None:
        data = json.dumps(Scene().bundle()).encode()
        generator = random.Random(1)
        for _ in range(300):
            place = generator.randrange(len(data))
            mutated = bytearray(data)
            mutated[place] = generator.randrange(256)
            report = verify_bundle(bytes(mutated), TRUST, NOW_MS, [])
            same = json.loads(data) == _loaded(bytes(mutated))
            self.assertTrue(same or report.verdict != "valid", place)
            verify_bundle(data[:place], TRUST, NOW_MS, [])

    def test_swapped_parts_of_two_bundles(self) -> None:
        one, two = Scene().bundle(), Scene(decided_by="policy", action="x").bundle()
        for path, _ in some(mutations(one)):
            part, other = _at(one, path), _at(two, path)
            if path and other is not None and part != other:
                self.assertFalse(
                    self.is_valid(changed(one, path, lambda _, part=other: part)), path
                )

    def test_hostile_trust_and_anchors_do_not_raise(self) -> None:
        for data in [b"\xff", b"[" * 9999, b'{"at":1}', b'{"at":"","checkpoint":1,"v":1}']:
            self.assertEqual(read_anchors(data), [])


def _loaded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _at(document: Any, path: Path) -> Any:
    for name in path:
        try:
            document = document[name]
        except (KeyError, IndexError, TypeError):
            return None
    return document


class Manifests(Case):
    def test_wrong_forms(self) -> None:
        log = Scene().log
        step = signer.rotation(signer.LOG_KEY, signer.NEXT_LOG_KEY)
        document = signer.manifest(log, 3, 7, signer.entry_lines(log.entries[3:7]))
        document["rotations"] = [step]
        with tempfile.TemporaryDirectory() as folder:
            for path, wrong in some(wrong_forms(document)):
                mutated = changed(document, path, lambda _, wrong=wrong: wrong)
                signer.write_export(folder, mutated, b"")
                report = verify_export(folder, TRUST, NOW_MS, [])
                self.assertEqual(report.checks[0].result, "failed", (path, wrong))

    def test_wrong_forms_of_entries(self) -> None:
        entry = Scene().log.entries[3]
        parse_entry(signer.entry_lines([entry]))
        for path, wrong in some(wrong_forms(entry)):
            if path[-1:] == ("value",) or path[:1] == ("sections",) and "value" in path:
                continue  # any JSON value is of the form
            if path == ("sections",) and isinstance(wrong, dict) and "zz" not in wrong:
                continue  # an erased section is left out
            mutated = changed(entry, path, lambda _, wrong=wrong: wrong)
            with self.assertRaises(Refused, msg=repr(path)):
                parse_entry(signer.entry_lines([mutated]))

    def test_manifest(self) -> None:
        log = Scene().log
        lines = signer.entry_lines(log.entries[3:7])
        document = signer.manifest(log, 3, 7, lines)
        with tempfile.TemporaryDirectory() as folder:
            signer.write_export(folder, document, lines)
            self.assertEqual(verify_export(folder, TRUST, NOW_MS, []).verdict, "valid")
            for again in (False, True):
                found = set()
                for path, change in some(mutations(document)):
                    if again and path[:1] == ("signatures",):
                        continue
                    mutated = changed(document, path, change)
                    if again and isinstance(mutated, dict):
                        sign_manifest(mutated)
                    signer.write_export(folder, mutated, lines)
                    if verify_export(folder, TRUST, NOW_MS, []).verdict == "valid":
                        found.add(path)
                allowed = {("exportedAt",)} if again else set()
                # When signed again, a changed member `signatures` of the whole is replaced.
                self.assertLessEqual(found - ({()} if again else set()), allowed)


if __name__ == "__main__":
    unittest.main()
