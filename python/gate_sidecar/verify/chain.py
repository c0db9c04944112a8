"""Chains and entries: headers, their hashes, and the commitments to their sections."""

from __future__ import annotations

import hashlib
from typing import Any, Optional

from .forms import (
    SALT_BYTES,
    decode_bytes,
    parse_time,
    require,
    require_action,
    require_chain,
    require_count,
    require_digest,
    require_id,
    require_members,
    require_one,
    require_sections,
)
from .strict_json import canonical


def digest_text(digest: bytes) -> str:
    """Return the text form of a digest."""
    return "sha256:" + digest.hex()


def entry_hash(header: dict[str, Any]) -> bytes:
    """Return the entryHash of a header."""
    return hashlib.sha256(b"gate-sidecar/entry/v1\n" + canonical(header)).digest()


def genesis(origin: str, chain: str) -> bytes:
    """Return what entry 0 of a chain has for its `prev`."""
    text = f"gate-sidecar/genesis/v1\n{origin}\n{chain}\n"
    return hashlib.sha256(text.encode("utf-8")).digest()


def commit(name: str, salt: bytes, value: Any) -> bytes:
    """Return the commitment to a section."""
    prefix = f"gate-sidecar/commit/v1\n{name}\n".encode("utf-8")
    return hashlib.sha256(prefix + salt + canonical(value)).digest()


def require_header(header: Any, what: str) -> None:
    """Require the form of a header."""
    require_members(header, ("chain", "commits", "id", "prev", "seq", "ts", "type", "v"), what)
    require_chain(header["chain"], f"chain of {what}")
    require_sections(header["commits"], f"commits of {what}")
    for commitment in header["commits"].values():
        require_digest(commitment, f"a commitment of {what}")
    require_id(header["id"], f"id of {what}")
    require_digest(header["prev"], f"prev of {what}")
    require_count(header["seq"], f"seq of {what}")
    parse_time(header["ts"], f"ts of {what}")
    require_action(header["type"], f"type of {what}")
    require_one(header["v"], f"v of {what}")


def require_opening(header: dict[str, Any], name: str, salt: str, value: Any) -> None:
    """Require that the header commits to this section, and the salt opens the commitment."""
    require(name in header["commits"], "a section is not committed to by its header")
    commitment = commit(name, decode_bytes(salt, SALT_BYTES, "a salt"), value)
    require(
        digest_text(commitment) == header["commits"][name],
        "a section does not give its commitment",
    )


def require_link(origin: str, before: Optional[dict[str, Any]], header: dict[str, Any]) -> None:
    """Check one step of `segment`: from the header before, if there is one, to this one."""
    what = f"entry {header['seq']}"
    if header["seq"] == 0:
        require(header["type"] == "audit.genesis", "entry 0 does not have the type audit.genesis")
        expected = digest_text(genesis(origin, header["chain"]))
        require(header["prev"] == expected, "entry 0 is not bound to its origin and chain")
    if before is None:
        return
    require(header["chain"] == before["chain"], f"{what} is of another chain")
    require(header["seq"] == before["seq"] + 1, f"{what} does not follow the entry before")
    require(
        header["prev"] == digest_text(entry_hash(before)),
        f"prev of {what} is not the hash of the entry before",
    )
    require(
        parse_time(before["ts"], "ts") <= parse_time(header["ts"], "ts"),
        f"ts of {what} is before that of the entry before",
    )
