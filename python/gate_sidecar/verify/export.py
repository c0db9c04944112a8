"""The export of a range ("The export of a range"): a folder, read line by line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Sequence
from typing import Any, BinaryIO, Optional

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
from .report import Report, fail_form, run_checks
from .strict_json import canonical, parse
from .trust import Trust

EXPORT_TYPE = "application/vnd.gate-sidecar.export.v1+json"
MANIFEST = "manifest.json"
ENTRIES = "entries.jsonl"
TABLE = "entries.csv"
CHUNK_BYTES = 1024 * 1024
MAX_MANIFEST_BYTES = 1024 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024

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
    "anchors": "chain",
    "times": "time",
}


def verify_export(folder: str, trust: Trust, now_ms: int, anchors: Sequence[Anchor]) -> Report:
    """Verify the export of a range."""
    try:
        manifest = _read_manifest(os.path.join(folder, MANIFEST))
    except Refused as why:
        return fail_form(str(why))
    context = Context(_evidence(manifest), trust, now_ms, anchors)
    entries = EntriesReader(manifest, {anchor.note.size for anchor in anchors})
    entries.read(os.path.join(folder, ENTRIES))
    checks = run_checks(
        PARTS,
        {
            "files": lambda: _check_files(folder, manifest, entries),
            "certificate": lambda: check_certificate(context),
            "revocation": lambda: check_revocation(context),
            "signature": lambda: check_signature(context),
            "segment": lambda: entries.require_no_problem("segment"),
            "openings": lambda: entries.require_no_problem("openings"),
            "checkpoint": lambda: check_checkpoint(context),
            "inclusion": lambda: entries.require_inclusion(context.evidence.note),
            "anchors": lambda: check_anchors(context, entries.shown_roots()),
            "times": lambda: check_times(context, entries.last_ts()),
        },
    )
    return Report(checks, context.assurance)


def _read_manifest(path: str) -> dict[str, Any]:
    """Check `form`: read and parse the manifest."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        raise Refused("the manifest cannot be read") from None
    manifest: dict[str, Any] = parse(data)
    _require_manifest(manifest)
    return manifest


def _require_manifest(manifest: Any) -> None:
    """Require the form of a manifest: of each value by itself."""
    names = "v version origin chain first end exportedAt files checkpoint range certificate"
    require_members(manifest, [*names.split(), "rotations", "signatures"], "the manifest")
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
    require_members(manifest["range"], ("left", "right"), "range")
    decode_hashes(manifest["range"]["left"], "left")
    decode_hashes(manifest["range"]["right"], "right")
    require_attested(manifest, manifest)


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
