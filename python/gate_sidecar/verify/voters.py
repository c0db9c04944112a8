"""The keys behind an approval ("Approvals", number 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .chain import entry_hash, require_opening
from .forms import (
    decode_hashes,
    is_integer,
    parse_time,
    require,
    require_count,
    require_id,
    require_object,
    require_text,
    require_texts,
)
from .merkle import require_inclusion
from .notes import Note

SYSTEM = "_system"
VOTERS = ("approver", "owner", "admin")


@dataclass(frozen=True)
class Key:
    """A key as it was made. `since` is the first seq that comes after it, or None."""

    changes: dict[str, Any]
    since: int | None

    @property
    def line(self) -> str:
        """Return the first key of its line."""
        line: str = self.changes.get("rotatedFrom", self.changes["id"])
        return line

    @property
    def principal(self) -> str:
        """Return whom it acts for."""
        identity: str | None = self.changes["identity"]
        return self.line if identity is None else identity

    @property
    def makers(self) -> list[str]:
        """Return who made it, or its secret."""
        return [self.changes[name] for name in ("createdBy", "rotatedBy") if name in self.changes]


Keys = Mapping[str, Key]


def read_keys(
    entries: Sequence[dict[str, Any]], chain: str, notes: Mapping[str, Note]
) -> dict[str, Key]:
    """Check the entries that made the keys, and return the keys by id.

    `chain` is that of the decision, `notes` has the checkpoint of each chain.
    """
    keys: dict[str, Key] = {}
    for entry in entries:
        header, data = entry["header"], entry["data"]
        require(header["chain"] in notes, "a key is under no good checkpoint")
        note = notes[header["chain"]]
        proof = decode_hashes(entry["inclusion"], "inclusion of a key")
        require_inclusion(entry_hash(header), header["seq"], note.size, proof, note.root)
        require_opening(header, "data", entry["salt"], data)
        require(header["type"] == "key.created", "an entry of keys makes no key")
        _require_key(data)
        require(all(before < data["id"] for before in keys), "the keys are not in order")
        keys[data["id"]] = Key(data["changes"], _since(header, data, chain))
    return keys


def _require_key(data: dict[str, Any]) -> None:
    require(data.get("record") == "key", "the record is not a key")
    changes = data.get("changes")
    require_object(changes, "changes of a key")
    assert isinstance(changes, dict)
    require_id(data.get("id"), "id of a key")
    require(changes.get("id") == data["id"], "the key has another id inside")
    require(is_integer(changes.get("revision")) and changes["revision"] == 1, "the key is not new")
    require("revokedAt" in changes and changes["revokedAt"] is None, "the new key is revoked")
    require_texts(changes.get("roles"), "roles of a key")
    require_texts(changes.get("groups"), "groups of a key")
    require_text(changes.get("createdBy"), "createdBy of a key")
    require("identity" in changes and "expiresAt" in changes, "members of a key are missing")
    if changes["identity"] is not None:
        require_text(changes["identity"], "identity of a key")
    if changes["expiresAt"] is not None:
        parse_time(changes["expiresAt"], "expiresAt of a key")
    for name in ("rotatedFrom", "rotatedBy"):
        if name in changes:
            require_text(changes[name], f"{name} of a key")


def _since(header: dict[str, Any], data: dict[str, Any], chain: str) -> int | None:
    """Return the first seq of the decision's chain that comes after the key."""
    if header["chain"] == chain:
        seq: int = header["seq"]
        return seq + 1
    if header["chain"] != SYSTEM:
        return None
    require_object(data.get("lengths"), "lengths of a key")
    length: int = data["lengths"].get(chain, 0)
    require_count(length, "a length")
    return length


def require_voters(record: dict[str, Any], seqs: Sequence[int], keys: Keys) -> None:
    """Require all needed keys, and a quorum of principals with a vote that counts."""
    require(set(_needed(record, keys)) == set(keys), "the keys are not the needed ones")
    counted = {
        vote["principal"]
        for vote, seq in zip(record["votes"], seqs)
        if _counts(vote, seq, record, keys)
    }
    require(len(counted) >= record["quorum"], "fewer votes count than the quorum")


def _needed(record: dict[str, Any], keys: Keys) -> Iterator[str]:
    ids = [vote["keyId"] for vote in record["votes"]] + [record["requestedByKey"]]
    yield from ids
    yield from _ancestors([maker for one in ids if one in keys for maker in keys[one].makers], keys)


def _ancestors(makers: Sequence[str], keys: Keys) -> list[str]:
    """Return these makers and theirs, but for the host."""
    found = [maker for maker in makers if not maker.startswith("host:")]
    for one in found:
        if one in keys:
            found.extend(
                maker
                for maker in keys[one].makers
                if maker not in found and not maker.startswith("host:")
            )
    return found


def _counts(vote: dict[str, Any], seq: int, record: dict[str, Any], keys: Keys) -> bool:
    key = keys[vote["keyId"]]
    changes, expires_at = key.changes, key.changes["expiresAt"]
    others = [other["keyId"] for other in record["votes"] if other["keyId"] != vote["keyId"]]
    asked = record["selfApproval"] or not (
        key.principal == record["requestedBy"] or _made_by(key, record["requestedByKey"], keys)
    )
    return (
        vote["principal"] == key.principal
        and any(role in VOTERS for role in changes["roles"])
        and key.since is not None
        and key.since <= seq
        and (expires_at is None or record["decidedAt"] < expires_at)
        and all(any(name in changes["groups"] for name in group) for group in record["approvers"])
        and asked
        and not any(_made_by(key, other, keys) for other in others)
    )


def _made_by(key: Key, other: str, keys: Keys) -> bool:
    """Say if the key was made over HTTP by a key of the line of the other."""
    line = keys[other].line if other in keys else other
    return any(one in keys and keys[one].line == line for one in _ancestors(key.makers, keys))
