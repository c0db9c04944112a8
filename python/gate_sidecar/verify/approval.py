"""The check `approval` ("Approvals")."""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Sequence
from typing import Any, Optional

from .chain import digest_text, entry_hash, require_opening
from .forms import (
    decode_hashes,
    is_integer,
    parse_time,
    require,
    require_list,
    require_object,
    require_text,
    require_texts,
)
from .merkle import require_inclusion
from .notes import Note
from .strict_json import canonical, parse

MAX_STEPS = 32

_ROOT = re.compile(r"context|plan")
_STEP = re.compile(r'\.([A-Za-z0-9_-]+)|\[("[^"\\]*(?:\\.[^"\\]*)*")\]')


def require_approval(
    entries: Sequence[dict[str, Any]],
    decision: dict[str, Any],
    grounds: dict[str, Any],
    request: Optional[dict[str, Any]],
    note: Note,
) -> dict[str, Any]:
    """Check the entries of an approval, and return the merge of their changes.

    `decision` is the header of the decision, `request` is None when it is redacted.
    """
    require(bool(entries), "there are no entries of the approval")
    _require_place(entries, decision, note)
    _require_records(entries, grounds)
    merge: dict[str, Any] = {}
    for entry in entries:
        merge.update(entry["data"]["changes"])
    _require_votes(merge, entries, grounds)
    if request is not None:
        require("digest" in merge, "the approval has no digest")
        digest = approval_digest(request, merge.get("unbound"), decision["chain"], grounds)
        require(merge["digest"] == digest, "the approval is of another request")
    return merge


def _require_place(entries: Sequence[dict[str, Any]], decision: dict[str, Any], note: Note) -> None:
    """Number 1: the place of each entry in the chain, and its commitment."""
    before = -1
    for entry in entries:
        header = entry["header"]
        require(header["chain"] == decision["chain"], "the approval is of another chain")
        require(
            before < header["seq"] < decision["seq"],
            "the entries of the approval are not in order before the decision",
        )
        before = header["seq"]
        proof = decode_hashes(entry["inclusion"], "inclusion of the approval")
        require_inclusion(entry_hash(header), header["seq"], note.size, proof, note.root)
        require_opening(header, "data", entry["salt"], entry["data"])


def _require_records(entries: Sequence[dict[str, Any]], grounds: dict[str, Any]) -> None:
    """Number 2: each entry is of this approval, the first one requests it."""
    approval_id = grounds.get("approvalId")
    require_text(approval_id, "grounds.approvalId")
    for position, entry in enumerate(entries):
        data = entry["data"]
        require_object(data, "data of the approval")
        require(data.get("record") == "approval", "the record is not an approval")
        require(data.get("id") == approval_id, "the entry is of another approval")
        expected = "approval.requested" if position == 0 else "approval.approved"
        require(entry["header"]["type"] == expected, "an entry of the approval has another type")
        require_object(data.get("changes"), "changes of the approval")
        revision = data["changes"].get("revision")
        require(
            is_integer(revision) and revision == position + 1,
            "entries of the approval are missing",
        )


def _require_votes(
    merge: dict[str, Any], entries: Sequence[dict[str, Any]], grounds: dict[str, Any]
) -> None:
    """Number 3: it is approved, with one vote for each entry after the first, for the requester."""
    require(merge.get("status") == "approved", "the status of the approval is not approved")
    quorum, votes = merge.get("quorum"), merge.get("votes")
    require(is_integer(quorum), "the quorum is not an integer")
    assert isinstance(quorum, int)
    require(quorum >= 1, "the quorum is less than 1")
    require_list(votes, "votes")
    assert isinstance(votes, list)
    require(len(votes) == len(entries) - 1, "there are not as many votes as entries of votes")
    for vote, entry in zip(votes, entries[1:]):
        require_object(vote, "a vote")
        require_text(vote.get("principal"), "the principal of a vote")
        require_text(vote.get("keyId"), "the key of a vote")
        require(vote.get("entryId") == entry["header"]["id"], "a vote is that of another entry")
    require_list(merge.get("approvers"), "approvers")
    for group in merge["approvers"]:
        require_texts(group, "a list of approvers")
    require(isinstance(merge.get("selfApproval"), bool), "selfApproval is not a boolean")
    require_text(merge.get("requestedBy"), "requestedBy")
    require_text(merge.get("requestedByKey"), "requestedByKey")
    parse_time(merge.get("decidedAt"), "decidedAt")
    caller = grounds.get("caller")
    require_object(caller, "grounds.caller")
    assert isinstance(caller, dict)
    require(caller.get("agent") == merge["requestedBy"], "the approval is of another requester")


def require_principals(merge: dict[str, Any]) -> None:
    """Number 5, without keys: a quorum of different principals."""
    principals = {vote["principal"] for vote in merge["votes"]}
    require(len(principals) >= merge["quorum"], "the approval has fewer principals than its quorum")


def approval_digest(
    request: dict[str, Any], unbound: Any, chain: str, grounds: dict[str, Any]
) -> str:
    """Number 4: the digest of what was approved."""
    require_text(request.get("action"), "action of the request")
    require_object(request.get("context", {}), "context of the request")
    require(
        isinstance(request.get("plan"), (dict, type(None))), "plan of the request is not an object"
    )
    bound = {"context": request.get("context", {}), "plan": request.get("plan")}
    bound = copy.deepcopy(bound)
    require_list(unbound, "unbound")
    for path in unbound:
        _remove(bound, parse_path(path))
    bound.update(action=request["action"], chain=chain, requester=grounds["caller"]["agent"])
    return digest_text(hashlib.sha256(b"gate-sidecar/approval/v1\n" + canonical(bound)).digest())


def parse_path(path: Any) -> list[str]:
    """Parse a path into the names of members, from `context` or `plan` on."""
    require_text(path, "a path of unbound")
    root = _ROOT.match(path)
    require(root is not None, "a path of unbound begins neither with context nor with plan")
    assert root is not None
    names, position = [root.group()], root.end()
    while position < len(path):
        step = _STEP.match(path, position)
        require(step is not None, "a path of unbound does not have the right form")
        assert step is not None
        plain, quoted = step.groups()
        names.append(plain if quoted is None else parse(quoted.encode("utf-8")))
        position = step.end()
    require(1 < len(names) <= 1 + MAX_STEPS, "a path of unbound does not name 1 to 32 members")
    return names


def _remove(value: Any, names: Sequence[str]) -> None:
    """Remove the member at a path. A path to no member removes nothing."""
    for name in names[:-1]:
        if not isinstance(value, dict) or name not in value:
            return
        value = value[name]
    if isinstance(value, dict):
        value.pop(names[-1], None)
