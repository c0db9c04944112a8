"""The export of a range ("The export of a range"): a folder, read line by line."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Sequence
from typing import Any, BinaryIO, Callable, Optional

from .anchors import Anchor
from .attested import Evidence, evidence_of, require_attested
from .chain import digest_text, entry_hash, require_header, require_link, require_opening
from .common import (
    Context,
    check_anchors,
    check_certificate,
    check_checkpoint,
    check_revocation,
    check_signature,
    check_times,
)
from .forms import (
    SALT_BYTES,
    Refused,
    Undecided,
    decode_bytes,
    decode_hashes,
    require,
    require_chain,
    require_count,
    require_digest,
    require_members,
    require_one,
    require_sections,
)
from .merkle import RangeRoot, leaf_hash
from .notes import Note
from .report import OK, Report, fail_form, run_checks
from .strict_json import canonical, parse
from .trust import Trust

EXPORT_TYPE = "application/vnd.gate-sidecar.export.v1+json"
MANIFEST = "manifest.json"
ENTRIES = "entries.jsonl"
TABLE = "entries.csv"
CHUNK_BYTES = 1024 * 1024
MAX_MANIFEST_BYTES = 16 * 1024 * 1024
MAX_LANES = 100_000
MAX_LINE_BYTES = 16 * 1024 * 1024

_LANE = re.compile("[1-9][0-9]{0,6}")

PARTS = {
    "form": "all",
    "files": "chain",
    "certificate": "signature",
    "revocation": "signature",
    "signature": "signature",
    "segment": "chain",
    "openings": "chain",
    "checkpoint": "chain",
    "inclusion": "chain",
    "lanes": "chain",
    "anchors": "chain",
    "times": "time",
}


def verify_export(folder: str, trust: Trust, now_ms: int, anchors: Sequence[Anchor]) -> Report:
    """Verify the export of a range, and of the lanes that belong to it."""
    try:
        manifest = parse_manifest(_read_manifest(os.path.join(folder, MANIFEST)))
    except Refused as why:
        return fail_form(str(why))
    return _verify_read(manifest, folder, trust, now_ms, anchors)


def _verify_read(
    manifest: dict[str, Any], folder: str, trust: Trust, now_ms: int, anchors: Sequence[Anchor]
) -> Report:
    context = Context(_evidence(manifest), trust, now_ms, anchors)
    entries = EntriesReader(manifest, {anchor.note.size for anchor in anchors})
    entries.read(os.path.join(folder, ENTRIES))

    def verify_lane(lane: dict[str, Any], lane_folder: str) -> Report:
        return _verify_read(lane, lane_folder, trust, now_ms, anchors)

    checks = run_checks(
        {name: part for name, part in PARTS.items() if name != "lanes" or "lanes" in manifest},
        {
            "files": lambda: _check_files(folder, manifest, entries),
            "certificate": lambda: check_certificate(context),
            "revocation": lambda: check_revocation(context),
            "signature": lambda: check_signature(context),
            "segment": lambda: entries.require_no_problem("segment"),
            "openings": lambda: entries.require_no_problem("openings"),
            "checkpoint": lambda: check_checkpoint(context),
            "inclusion": lambda: entries.require_inclusion(context.evidence.note),
            "lanes": lambda: _check_lanes(folder, manifest, verify_lane),
            "anchors": lambda: check_anchors(context, entries.shown_roots()),
            "times": lambda: check_times(context, entries.last_ts()),
        },
    )
    return Report(checks, context.assurance)


def _read_manifest(path: str) -> bytes:
    """Read the text of a manifest."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_MANIFEST_BYTES + 1)
    except OSError:
        raise Refused("the manifest cannot be read") from None
    require(len(data) <= MAX_MANIFEST_BYTES, "the manifest has more than 16 MiB")
    return data


def parse_manifest(data: bytes) -> dict[str, Any]:
    """Check `form`: parse the manifest."""
    manifest: dict[str, Any] = parse(data)
    _require_manifest(manifest)
    return manifest


def _require_manifest(manifest: Any) -> None:
    """Require the form of a manifest: of each value by itself."""
    names = "v version origin chain first end exportedAt files checkpoint range certificate"
    optional = ["lanes"] if isinstance(manifest, dict) and "lanes" in manifest else []
    members = [*names.split(), "rotations", "signatures", *optional]
    require_members(manifest, members, "the manifest")
    require_one(manifest["v"], "v of the manifest")
    require(manifest["version"] == "1.0", "the version is not 1.0")
    require_chain(manifest["chain"], "chain")
    require_count(manifest["first"], "first")
    require_count(manifest["end"], "end")
    require_members(manifest["files"], (ENTRIES, TABLE), "files")
    for file in manifest["files"].values():
        require_members(file, ("bytes", "sha256"), "a file")
        require_count(file["bytes"], "bytes of a file")
        require_digest(file["sha256"], "sha256 of a file")
    if "lanes" in manifest:
        _require_lanes(manifest["lanes"])
        require("~" not in manifest["chain"], "a lane has no lanes")
    require_members(manifest["range"], ("left", "right"), "range")
    decode_hashes(manifest["range"]["left"], "left")
    decode_hashes(manifest["range"]["right"], "right")
    require_attested(manifest, manifest)


def _require_lanes(lanes: Any) -> None:
    require(isinstance(lanes, dict) and len(lanes) <= MAX_LANES, "lanes are not an object")
    for number, digest in lanes.items():
        require(_LANE.fullmatch(number) is not None, "a lane has no number")
        require_digest(digest, "a lane")


def _check_lanes(
    folder: str, manifest: dict[str, Any], verify: Callable[[dict[str, Any], str], Report]
) -> None:
    """Check `lanes`: each is there as it was exported, and verifies."""
    undecided: Optional[str] = None
    for number, digest in manifest["lanes"].items():
        name, lane_folder = f"{manifest['chain']}~{number}", os.path.join(folder, f"lane-{number}")
        data = _read_manifest(os.path.join(lane_folder, MANIFEST))
        is_exported = digest_text(hashlib.sha256(data).digest()) == digest
        require(is_exported, f"the manifest of {name} is not as it was exported")
        lane = parse_manifest(data)
        require(lane["chain"] == name, f"the export of {name} is of another chain")
        report = verify(lane, lane_folder)
        whys = " ".join(check.why for check in report.checks if check.result != OK)
        require(report.verdict != "invalid", f"{name}: {whys}")
        if report.verdict == "incomplete":
            undecided = undecided or f"{name}: {whys}"
    if undecided is not None:
        raise Undecided(undecided)


def _evidence(manifest: dict[str, Any]) -> Evidence:
    return evidence_of(manifest, manifest, manifest["chain"], EXPORT_TYPE)


class EntriesReader:
    """Reads `entries.jsonl` once, and keeps what the checks need, but no entries.

    Entries are looked at up to the first that is not the next one of the range: for the other
    checks there is none from there on. Only the digest of the file goes on.
    `problems` has, by check, the first problem. `roots` has those of the sizes asked for.
    """

    def __init__(self, manifest: dict[str, Any], sizes: Collection[int]) -> None:
        self.found = False
        self.length = 0
        self.sha256 = hashlib.sha256()
        self.last: Optional[dict[str, Any]] = None
        self.problems: dict[str, str] = {}
        self.tree = RangeRoot()
        self.roots: dict[int, bytes] = {}
        self.leads_to_root = False
        self._manifest = manifest
        self._sizes = sizes
        self._next: int = manifest["first"]
        self._expected_length: int = manifest["files"][ENTRIES]["bytes"]
        self._start_tree()

    def _start_tree(self) -> None:
        try:
            left = decode_hashes(self._manifest["range"]["left"], "left")
            self.tree.append_interval(0, self._next, left)
        except Refused as why:
            self._note_problem("inclusion", why)
        self._keep_root()

    def require_no_problem(self, check: str) -> None:
        """Refuse if the entries have a problem that concerns this check."""
        if check in self.problems:
            raise Refused(self.problems[check])

    def require_inclusion(self, note: Note) -> None:
        """Check `inclusion`: the range leads to the root."""
        self.require_no_problem("inclusion")
        end = self._manifest["end"]
        require(end <= note.size, "the range ends after the checkpoint")
        right = decode_hashes(self._manifest["range"]["right"], "right")
        self.tree.append_interval(end, note.size, right)
        require(self.tree.root() == note.root, "the range does not lead to the root")
        self.leads_to_root = True

    def shown_roots(self) -> dict[int, bytes]:
        """Return the roots of earlier trees. A range that does not lead to the root shows none."""
        return self.roots if self.leads_to_root else {}

    def last_ts(self) -> Optional[str]:
        """Return `ts` of the last entry, if there is one."""
        return None if self.last is None else self.last["ts"]

    def read(self, path: str) -> None:
        """Read the file, but not much further than needed. One that is missing is empty."""
        try:
            with open(path, "rb") as file:
                self.found = True
                self._read_lines(file)
        except OSError:
            self.found = False
        if self._next != self._manifest["end"]:
            self._note_problem("segment", Refused(f"entry {self._next} is missing"))
            self._note_problem("inclusion", Refused(f"entry {self._next} is missing"))

    def _read_lines(self, file: BinaryIO) -> None:
        while self.length <= self._expected_length or "segment" not in self.problems:
            line = file.readline(MAX_LINE_BYTES + 2)
            if not line:
                return
            self.length += len(line)
            self.sha256.update(line)
            if "segment" not in self.problems:
                self._read_line(line)

    def _read_line(self, line: bytes) -> None:
        try:
            require(self._next < self._manifest["end"], "there are more entries than in the range")
            entry = parse_entry(line)
            self._require_segment(entry)
        except Refused as why:
            self._note_problem("segment", why)
            return
        try:
            for name, section in entry["sections"].items():
                require_opening(entry["header"], name, section["salt"], section["value"])
        except Refused as why:
            self._note_problem("openings", why)
        self.tree.append(0, leaf_hash(entry_hash(entry["header"])))
        self.last = entry["header"]
        self._next += 1
        self._keep_root()

    def _require_segment(self, entry: dict[str, Any]) -> None:
        header, manifest = entry["header"], self._manifest
        require(header["chain"] == manifest["chain"], "an entry is of another chain")
        require(header["seq"] == self._next, "seq of an entry is not in order")
        require(entry["hash"] == digest_text(entry_hash(header)), "a hash is not that of its entry")
        require_link(manifest["origin"], self.last, header)

    def _keep_root(self) -> None:
        if self._next in self._sizes:
            self.roots[self._next] = self.tree.root()

    def _note_problem(self, check: str, why: Refused) -> None:
        self.problems.setdefault(check, str(why))


def parse_entry(line: bytes) -> dict[str, Any]:
    """Parse a line of `entries.jsonl`: an entry as JCS. The last one may have no line feed."""
    text = line[:-1] if line.endswith(b"\n") else line
    require(len(text) <= MAX_LINE_BYTES, "a line has more than 16 MiB")
    entry: dict[str, Any] = parse(text)
    require(canonical(entry) == text, "a line is not canonical")
    require_members(entry, ("hash", "header", "sections"), "an entry")
    require_digest(entry["hash"], "hash of an entry")
    require_header(entry["header"], "an entry")
    require_sections(entry["sections"], "sections of an entry")
    for section in entry["sections"].values():
        require_members(section, ("salt", "value"), "a section")
        decode_bytes(section["salt"], SALT_BYTES, "the salt of a section")
    return entry


def _check_files(folder: str, manifest: dict[str, Any], entries: EntriesReader) -> None:
    """Check `files`. The digest of the entries is that of the same bytes as were checked."""
    expected = manifest["files"]
    actual = {"bytes": entries.length, "sha256": digest_text(entries.sha256.digest())}
    require(
        entries.found and actual == expected[ENTRIES],
        "entries.jsonl is not there or has not its length and digest",
    )
    require(
        _has_digest(os.path.join(folder, TABLE), expected[TABLE]),
        "entries.csv is not there or has not its length and digest",
    )


def _has_digest(path: str, expected: dict[str, Any]) -> bool:
    """Say if a file has this length and digest. Read no further than just past that length."""
    length, sha256 = 0, hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while length <= expected["bytes"]:
                chunk = file.read(CHUNK_BYTES)
                if not chunk:
                    break
                length += len(chunk)
                sha256.update(chunk)
    except OSError:
        return False
    actual = {"bytes": length, "sha256": digest_text(sha256.digest())}
    return actual == expected
