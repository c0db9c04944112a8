"""The export of a range ("The export of a range"): a folder, read line by line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any, BinaryIO, Optional

from .chain import digest_text, entry_hash, require_header, require_link, require_opening
from .common import (
    Context,
    Evidence,
    check_certificate,
    check_checkpoint,
    check_revocation,
    check_signature,
    check_times,
    require_service,
)
from .forms import (
    SALT_BYTES,
    Refused,
    decode_bytes,
    decode_hashes,
    parse_time,
    require,
    require_chain,
    require_count,
    require_digest,
    require_members,
    require_object,
    require_one,
    require_origin,
    require_text,
)
from .merkle import RangeRoot, leaf_hash
from .notes import parse_note
from .report import Report, fail_form, run_checks
from .strict_json import MAX_BYTES, canonical, parse
from .trust import Anchor, Trust, require_certificate, require_rotations

EXPORT_TYPE = "application/vnd.gate-sidecar.export.v1+json"
MANIFEST = "manifest.json"
ENTRIES = "entries.jsonl"
TABLE = "entries.csv"
CHUNK_BYTES = 1024 * 1024

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
    "times": "time",
}


def verify_export(folder: str, trust: Trust, now_ms: int, anchors: Sequence[Anchor]) -> Report:
    """Verify the export of a range."""
    try:
        manifest = _read_manifest(os.path.join(folder, MANIFEST))
    except Refused as why:
        return fail_form(PARTS, str(why))
    context = Context(_evidence(manifest), trust, now_ms, anchors)
    entries = EntriesReader(manifest)
    entries.read(os.path.join(folder, ENTRIES))
    checks = run_checks(
        PARTS,
        {
            "files": lambda: _check_files(folder, manifest, entries),
            "certificate": lambda: check_certificate(context),
            "revocation": lambda: check_revocation(context),
            "signature": lambda: check_signature(context),
            "segment": lambda: _check_segment(manifest, entries),
            "openings": lambda: entries.require_no_problem("openings"),
            "checkpoint": lambda: check_checkpoint(context),
            "inclusion": lambda: _check_inclusion(manifest, entries, context),
            "times": lambda: _check_times(entries, context),
        },
    )
    return Report(checks, context.keys.pinned, context.assurance)


def _read_manifest(path: str) -> dict[str, Any]:
    """Check `form`: read and parse the manifest."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        raise Refused("the manifest cannot be read") from None
    manifest: dict[str, Any] = parse(data)
    _require_manifest(manifest)
    return manifest


def _require_manifest(manifest: Any) -> None:
    """Require the form of a manifest, and first <= end <= size."""
    names = "v version origin chain first end exportedAt files checkpoint range certificate"
    require_members(manifest, [*names.split(), "rotations", "signatures"], "the manifest")
    require_one(manifest["v"], "v of the manifest")
    require(manifest["version"] == "1.0", "the version is not 1.0")
    require_origin(manifest["origin"], "origin")
    require_chain(manifest["chain"], "chain")
    require_count(manifest["first"], "first")
    require_count(manifest["end"], "end")
    require_text(manifest["exportedAt"], "exportedAt")
    require_members(manifest["files"], (ENTRIES, TABLE), "files")
    for file in manifest["files"].values():
        require_members(file, ("bytes", "sha256"), "a file")
        require_count(file["bytes"], "bytes of a file")
        require_digest(file["sha256"], "sha256 of a file")
    require_text(manifest["checkpoint"], "checkpoint")
    require_members(manifest["range"], ("left", "right"), "range")
    decode_hashes(manifest["range"]["left"], "left")
    decode_hashes(manifest["range"]["right"], "right")
    require_certificate(manifest["certificate"])
    require_rotations(manifest["rotations"])
    require_members(manifest["signatures"], ("service",), "signatures")
    require_service(manifest["signatures"]["service"])
    size = parse_note(manifest["checkpoint"]).size
    require(manifest["first"] <= manifest["end"] <= size, "first <= end <= size does not hold")


def _evidence(manifest: dict[str, Any]) -> Evidence:
    signed = {name: value for name, value in manifest.items() if name != "signatures"}
    return Evidence(
        origin=manifest["origin"],
        chain=manifest["chain"],
        exported_at=manifest["exportedAt"],
        checkpoint=manifest["checkpoint"],
        certificate=manifest["certificate"],
        rotations=manifest["rotations"],
        service=manifest["signatures"]["service"],
        payload_type=EXPORT_TYPE,
        payload=canonical(signed),
    )


class EntriesReader:
    """Reads `entries.jsonl` once, and keeps what the checks need, but no entries.

    `problems` has, by check, the first problem. After an entry without the right form no further
    entry is looked at: only the digest of the file goes on.
    """

    def __init__(self, manifest: dict[str, Any]) -> None:
        self.count = 0
        self.length = 0
        self.sha256 = hashlib.sha256()
        self.last: Optional[dict[str, Any]] = None
        self.problems: dict[str, str] = {}
        self.broken = False
        self.tree = RangeRoot()
        self._manifest = manifest
        self._expected_length: int = manifest["files"][ENTRIES]["bytes"]
        try:
            self.tree.append_interval(
                0, manifest["first"], decode_hashes(manifest["range"]["left"], "left")
            )
        except Refused as why:
            self._note_problem("inclusion", why)

    def require_no_problem(self, check: str) -> None:
        """Refuse if the entries have a problem that concerns this check."""
        if check in self.problems:
            raise Refused(self.problems[check])

    def read(self, path: str) -> None:
        """Read the file, but not further than just past the length that it should have."""
        try:
            with open(path, "rb") as file:
                self._read_lines(file)
        except OSError:
            self._break(Refused("entries.jsonl cannot be read"))

    def _read_lines(self, file: BinaryIO) -> None:
        while self.length <= self._expected_length:
            line = file.readline(MAX_BYTES + 1)
            if not line:
                return
            self.length += len(line)
            self.sha256.update(line)
            if not self.broken:
                self._read_line(line)
        self._break(Refused("entries.jsonl is longer than it should be"))

    def _read_line(self, line: bytes) -> None:
        try:
            entry = parse_entry(line)
        except Refused as why:
            self._break(why)
            return
        self._check_entry(entry)
        self.tree.append(0, leaf_hash(entry_hash(entry["header"])))
        self.last = entry["header"]
        self.count += 1

    def _check_entry(self, entry: dict[str, Any]) -> None:
        """Make the part of `segment`, `openings` and `times` that concerns one entry."""
        header = entry["header"]
        try:
            self._require_segment(entry)
        except Refused as why:
            self._note_problem("segment", why)
        try:
            for name, section in entry["sections"].items():
                require_opening(header, name, section["salt"], section["value"])
        except Refused as why:
            self._note_problem("openings", why)
        try:
            parse_time(header["ts"], "ts of an entry")
        except Refused as why:
            self._note_problem("times", why)

    def _require_segment(self, entry: dict[str, Any]) -> None:
        header, manifest = entry["header"], self._manifest
        require(header["chain"] == manifest["chain"], "an entry is of another chain")
        require(header["seq"] == manifest["first"] + self.count, "seq of an entry is not in order")
        require(entry["hash"] == digest_text(entry_hash(header)), "a hash is not that of its entry")
        require_link(manifest["origin"], self.last, header)

    def _break(self, why: Refused) -> None:
        self.broken = True
        for check in ("segment", "openings", "inclusion", "times"):
            self._note_problem(check, why)

    def _note_problem(self, check: str, why: Refused) -> None:
        self.problems.setdefault(check, str(why))


def parse_entry(line: bytes) -> dict[str, Any]:
    """Parse a line of `entries.jsonl`: an entry as JCS, and a line feed."""
    require(line.endswith(b"\n"), "a line does not end in a line feed, or is too long")
    entry: dict[str, Any] = parse(line[:-1])
    require(canonical(entry) == line[:-1], "a line is not canonical")
    require_members(entry, ("hash", "header", "sections"), "an entry")
    require_digest(entry["hash"], "hash of an entry")
    require_header(entry["header"], "an entry")
    require_object(entry["sections"], "sections of an entry")
    for section in entry["sections"].values():
        require_members(section, ("salt", "value"), "a section")
        decode_bytes(section["salt"], SALT_BYTES, "the salt of a section")
    return entry


def _check_files(folder: str, manifest: dict[str, Any], entries: EntriesReader) -> None:
    """Check `files`. The digest of the entries is that of the same bytes as were checked."""
    expected = manifest["files"]
    actual = {"bytes": entries.length, "sha256": digest_text(entries.sha256.digest())}
    require(
        actual == expected[ENTRIES],
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


def _check_segment(manifest: dict[str, Any], entries: EntriesReader) -> None:
    """Check `segment`: each entry was checked when it was read, here the number of them."""
    entries.require_no_problem("segment")
    require(
        entries.count == manifest["end"] - manifest["first"],
        "the number of entries is not end - first",
    )


def _check_inclusion(manifest: dict[str, Any], entries: EntriesReader, context: Context) -> None:
    """Check `inclusion`: the range leads to the root."""
    entries.require_no_problem("inclusion")
    note = context.require_note()
    right = decode_hashes(manifest["range"]["right"], "right")
    entries.tree.append_interval(manifest["end"], note.size, right)
    require(entries.tree.root() == note.root, "the range does not lead to the root")


def _check_times(entries: EntriesReader, context: Context) -> None:
    """Check `times`. An export without entries has no time of a last one."""
    entries.require_no_problem("times")
    check_times(context, [], None if entries.last is None else entries.last["ts"])
