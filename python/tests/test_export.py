"""Exports of a range, check by check."""

import copy
import json
import os
import tempfile
import unittest
from collections.abc import Sequence
from typing import Any, Optional

from gate_sidecar.verify import Anchor, Report, Trust, read_anchors, read_trust, verify_export
from gate_sidecar.verify.export import PARTS

from . import signer
from .signer import (
    BUNDLE_KEY,
    LOG_KEY,
    NEXT_LOG_KEY,
    NOW_MS,
    OTHER_KEY,
    Json,
    Log,
    Scene,
    anchor,
    certificate,
    entry_lines,
    manifest,
    rotation,
    sign_manifest,
    time,
    trust_file,
)
from .test_bundle import results

LOG = Scene().log
SIZE = len(LOG.entries)
TRUST = read_trust(trust_file())


class Case(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def verify(
        self,
        value: Any,
        lines: bytes,
        trust: Trust = TRUST,
        anchors: Sequence[Anchor] = (),
        now: int = NOW_MS,
    ) -> Report:
        signer.write_export(self.folder, value, lines)
        return verify_export(self.folder, trust, now, anchors)

    def export(self, first: int, end: int, log: Log = LOG, **replaced: Any) -> Report:
        lines = entry_lines(log.entries[first:end])
        return self.verify(manifest(log, first, end, lines, **replaced), lines)

    def with_entries(self, entries: Sequence[Json], first: int = 2, end: int = 6) -> Report:
        """Verify an export whose manifest is signed over these entries."""
        return self.with_lines(entry_lines(entries), first, end)

    def with_lines(self, lines: bytes, first: int = 2, end: int = 6) -> Report:
        return self.verify(manifest(LOG, first, end, lines), lines)

    def entries(self) -> list[Json]:
        return copy.deepcopy(LOG.entries[2:6])

    def assert_results(self, report: Report, **expected: str) -> None:
        self.assertEqual(results(report), expected)


class Whole(Case):
    def test_all_ranges(self) -> None:
        for first in range(SIZE + 1):
            for end in range(first, SIZE + 1):
                report = self.export(first, end)
                self.assertEqual((results(report), report.verdict), ({}, "valid"), (first, end))

    def test_report(self) -> None:
        value = self.export(2, 6).as_json()
        expected = [name for name in PARTS if name != "lanes"]
        self.assertEqual([check["check"] for check in value["checks"]], expected)
        self.assertEqual((value["valid"], value["assurance"]), (True, "self-asserted"))

    def test_larger_log(self) -> None:
        log = Log()
        for number in range(1, 70):
            log.append("policy.loaded", f"aud_{number}", {"data": {"n": number}}, time(number))
        for first, end in [(0, 70), (13, 50), (64, 70), (1, 69), (31, 33)]:
            self.assert_results(self.export(first, end, log))

    def test_erased_sections(self) -> None:
        entries = self.entries()
        del entries[0]["sections"]["data"]
        entries[1]["sections"] = {}
        self.assert_results(self.with_entries(entries))

    def test_anchors_rotations_and_unpinned(self) -> None:
        lines = entry_lines(LOG.entries[2:6])
        value = manifest(LOG, 2, 6, lines)
        anchors = read_anchors(anchor(time(90), value["checkpoint"]))
        self.assertEqual(self.verify(value, lines, anchors=anchors).assurance, "bracketed")
        report = self.verify(value, lines, Trust())
        self.assert_results(report, certificate="unknown", checkpoint="unknown")
        self.assertTrue(report.unattributed)
        replaced = {
            "checkpoint": LOG.checkpoint((NEXT_LOG_KEY,)),
            "certificate": certificate(NEXT_LOG_KEY),
        }
        steps = [rotation(LOG_KEY, NEXT_LOG_KEY)]
        self.assert_results(self.export(2, 6, rotations=steps, **replaced))
        self.assert_results(
            self.export(2, 6, **replaced), certificate="failed", checkpoint="failed"
        )
        revoked = read_trust(trust_file(revoked=[(BUNDLE_KEY, time(1))]))
        self.assert_results(self.verify(value, lines, revoked), revocation="unknown")


class Form(Case):
    def fails(self, report: Report) -> None:
        self.assert_results(report, form="failed")

    def test_form(self) -> None:
        lines = entry_lines(LOG.entries[2:6])
        changes: list[dict[str, Any]] = [
            {"v": True},
            {"version": "2.0"},
            {"chain": "acme"},
            {"first": -1},
            {"end": 2**53},
            {"checkpoint": "no note"},
            {"more": 1},
            {"files": {}},
            {"range": {"left": [], "right": [], "more": []}},
        ]
        for change in changes:
            value = manifest(LOG, 2, 6, lines)
            value.update(change)
            self.fails(self.verify(sign_manifest(value), lines))
        value = manifest(LOG, 2, 6, lines)
        value["files"]["../secret"] = value["files"]["entries.csv"]
        self.fails(self.verify(sign_manifest(value), lines))
        value = manifest(LOG, 2, 6, lines)
        value["signatures"]["more"] = 1
        self.fails(self.verify(value, lines))
        for data in (None, [], "text"):
            self.fails(self.verify(data, lines))

    def test_no_manifest(self) -> None:
        self.fails(verify_export(self.folder, TRUST, NOW_MS, []))
        self.fails(verify_export(os.path.join(self.folder, "none"), TRUST, NOW_MS, []))


class Files(Case):
    def test_digests(self) -> None:
        lines = entry_lines(LOG.entries[2:6])
        value = manifest(LOG, 2, 6, lines)
        for change in (
            {"entries.jsonl": {"bytes": len(lines), "sha256": "sha256:" + "00" * 32}},
            {"entries.csv": {"bytes": 3, "sha256": value["files"]["entries.csv"]["sha256"]}},
            {"entries.csv": {"bytes": 5, "sha256": value["files"]["entries.csv"]["sha256"]}},
            {"entries.csv": {"bytes": 4, "sha256": "sha256:" + "00" * 32}},
        ):
            changed = manifest(LOG, 2, 6, lines, files={**value["files"], **change})
            self.assert_results(self.verify(changed, lines), files="failed")

    def test_missing(self) -> None:
        lines = entry_lines(LOG.entries[2:6])
        for name, failed in [
            ("entries.csv", ["files"]),
            ("entries.jsonl", ["files", "segment", "inclusion"]),
        ]:
            signer.write_export(self.folder, manifest(LOG, 2, 6, lines), lines)
            os.remove(os.path.join(self.folder, name))
            report = verify_export(self.folder, TRUST, NOW_MS, [])
            self.assert_results(report, **{check: "failed" for check in failed})
            os.mkdir(os.path.join(self.folder, name))
            report = verify_export(self.folder, TRUST, NOW_MS, [])
            self.assert_results(report, **{check: "failed" for check in failed})
            os.rmdir(os.path.join(self.folder, name))

    def test_changed_after_signing(self) -> None:
        lines = entry_lines(LOG.entries[2:6])
        value = manifest(LOG, 2, 6, lines)
        changed = lines.replace(b'"n":0', b'"n":1')
        self.assert_results(self.verify(value, changed), files="failed", openings="failed")
        for other in (lines + b" " * 10**6, lines + b"{}\n", b""):
            self.assertEqual(results(self.verify(value, other))["files"], "failed")
            self.assertEqual(results(self.verify(value, other))["segment"], "failed")
        self.assert_results(self.verify(value, lines[:-1]), files="failed")


class Entries(Case):
    def test_lines(self) -> None:
        good = entry_lines(LOG.entries[2:6])
        self.assert_results(self.with_lines(good[:-1]))
        self.assert_results(self.with_lines(good + b"\n"), segment="failed")
        for lines in [
            b"\n" + good,
            good.replace(b"\n", b"\r\n"),
            good.replace(b'"v":1}', b'"v": 1}', 1),
            good.replace(b'"v":1}', b'"v":1.0}', 1),
            good.replace(b'{"hash"', b'{"a":1,"hash"', 1),
            b"[" * 10**5 + b"\n" + good,
            b"\xff" + good,
        ]:
            report = self.with_lines(lines)
            self.assert_results(report, segment="failed", inclusion="failed")

    def test_segment(self) -> None:
        entries = self.entries()
        entries[1]["hash"] = entries[0]["hash"]
        self.assert_results(self.with_entries(entries), segment="failed", inclusion="failed")
        self.assert_results(
            self.with_entries(self.entries()[:-1]), segment="failed", inclusion="failed"
        )
        self.assert_results(self.with_entries(LOG.entries[2:7]), segment="failed")
        for wrong in (LOG.entries[1:5], LOG.entries[2:4] + LOG.entries[5:7]):
            report = self.with_entries(wrong)
            self.assert_results(report, segment="failed", inclusion="failed")
        # The right number of entries and the right hashes, but not in their places.
        report = self.verify(manifest(LOG, 3, 7, entry_lines(LOG.entries[2:6])), b"")
        self.assertEqual(results(report)["segment"], "failed")

    def spoiled(self, number: int, **members: Any) -> Report:
        """An export of a log with a spoiled header, which the log itself has signed."""
        log = Scene().log
        before: Optional[Json] = None
        for entry in log.entries:
            header = entry["header"]
            if before is not None:
                header["prev"] = signer.header_digest(before)
            if header is log.entries[number]["header"]:
                header.update(members)
            entry["hash"] = signer.header_digest(header)
            before = header
        return self.export(0, SIZE, log)

    def test_links(self) -> None:
        zeros = "sha256:" + "00" * 32
        self.assert_results(self.spoiled(4))
        for members in [{"ts": time(0)}, {"prev": zeros}, {"chain": "acme/test"}, {"seq": 5}]:
            self.fails(self.spoiled(4, **members))
        self.fails(self.spoiled(0, prev=zeros))
        self.fails(self.spoiled(0, type="policy.loaded"))
        self.fails(self.spoiled(4, ts="soon"))

    def fails(self, report: Report) -> None:
        self.assert_results(report, segment="failed", inclusion="failed")

    def test_entries_of_another_chain(self) -> None:
        other = Log(chain="acme/test")
        other.entries = LOG.entries
        self.fails(self.export(2, 6, other))

    def test_openings(self) -> None:
        for change in [
            {"data": {"salt": signer.b64(bytes(32)), "value": {"n": 0}}},
            {"data": {**LOG.entries[2]["sections"]["data"], "value": {"n": 5}}},
            {"other": LOG.entries[2]["sections"]["data"]},
        ]:
            entries = self.entries()
            entries[0]["sections"] = change
            self.assert_results(self.with_entries(entries), openings="failed")

    def test_outside_the_tree(self) -> None:
        value = manifest(LOG, 2, 6, b"")
        value["end"] = 1
        self.fails(self.verify(sign_manifest(value), b""))
        lines = entry_lines(LOG.entries[2:6])
        value = manifest(LOG, 2, 6, lines, checkpoint=LOG.checkpoint(size=5))
        self.assert_results(self.verify(value, lines), inclusion="failed")

    def test_anchors(self) -> None:
        wrong = f"{signer.ORIGIN}/acme/live\n{{}}\n{signer.b64(bytes(32))}\n"
        for size, fails in [(1, False), (2, True), (4, True), (6, True), (7, False), (SIZE, True)]:
            for good in (True, False):
                forged = signer.note(wrong.format(size), [LOG_KEY])
                note = LOG.checkpoint(size=size) if good else forged
                lines = entry_lines(LOG.entries[2:6])
                anchors = read_anchors(anchor(time(90), note))
                report = self.verify(manifest(LOG, 2, 6, lines), lines, anchors=anchors)
                expected = {"anchors": "failed"} if fails and not good else {}
                self.assertEqual(results(report), expected, (size, good))

    def test_inclusion(self) -> None:
        lines = entry_lines(LOG.entries[2:6])
        good = manifest(LOG, 2, 6, lines)["range"]
        for wrong in [
            {"left": good["right"][:1], "right": good["right"]},
            {"left": good["left"], "right": good["right"][::-1]},
            {"left": [], "right": good["right"]},
            {"left": good["left"], "right": good["right"][:-1]},
            {"left": good["left"] * 2, "right": good["right"]},
        ]:
            self.assert_results(self.export(2, 6, range=wrong), inclusion="failed")
        other = signer.Log()
        other.append("policy.loaded", "aud_1", {"data": 1}, time(1))
        other.entries += LOG.entries[2:]
        self.assert_results(self.export(2, 6, checkpoint=other.checkpoint()), inclusion="failed")


class Rest(Case):
    def test_signatures(self) -> None:
        lines = entry_lines(LOG.entries[2:6])
        value = manifest(LOG, 2, 6, lines)
        self.assert_results(
            self.verify(sign_manifest(value, OTHER_KEY), lines), certificate="failed"
        )
        value = manifest(LOG, 2, 6, lines)
        value["exportedAt"] = time(3601)
        self.assert_results(self.verify(value, lines), signature="failed")
        bundle_signature = signer._service(
            signer.BUNDLE_TYPE,
            {name: member for name, member in value.items() if name != "signatures"},
            BUNDLE_KEY,
        )
        value["signatures"] = {"service": bundle_signature}
        self.assert_results(self.verify(value, lines), signature="failed")

    def test_checkpoint(self) -> None:
        other = Log(chain="acme/test")
        other.entries = LOG.entries
        self.assert_results(self.export(2, 6, checkpoint=other.checkpoint()), checkpoint="failed")
        self.assert_results(
            self.export(2, 6, checkpoint=LOG.checkpoint((OTHER_KEY,))), checkpoint="failed"
        )

    def test_times(self) -> None:
        last = len(LOG.entries)
        self.assert_results(self.export(2, last, exportedAt=time(80)))
        self.assert_results(self.export(2, last, exportedAt=time(79)), times="failed")
        lines = entry_lines(LOG.entries[2:last])
        value = manifest(LOG, 2, last, lines)
        report = self.verify(value, lines, read_trust(trust_file([(LOG_KEY, time(79))])))
        self.assert_results(report, times="failed")
        late = NOW_MS - 3600_000 - 300_001
        self.assert_results(self.verify(value, lines, now=late), times="failed")
        anchors = read_anchors(anchor("2025-12-31T23:56:19.999Z", value["checkpoint"]))
        self.assert_results(self.verify(value, lines, anchors=anchors), times="failed")

    def test_any_garbage_has_a_verdict(self) -> None:
        for data in (b"", b"{", b"[" * 10**6, b"\xff", json.dumps({"v": 1}).encode()):
            with open(os.path.join(self.folder, "manifest.json"), "wb") as file:
                file.write(data)
            self.assertEqual(verify_export(self.folder, TRUST, NOW_MS, []).verdict, "invalid")


if __name__ == "__main__":
    unittest.main()
