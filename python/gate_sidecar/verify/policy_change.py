"""Policy changes: the signed entries about one policy set ("The policy change")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from .anchors import Anchor
from .attested import Evidence, evidence_of, require_attested
from .chain import entry_hash, require_header, require_opening
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
    require_id,
    require_list,
    require_members,
    require_object,
    require_one,
    require_text,
)
from .merkle import require_inclusion
from .report import Report, fail_form, run_checks
from .trust import Trust

CHANGE_TYPE = "application/vnd.gate-sidecar.policy-change.v1+json"
KIND = "policy-change"
MAX_ENTRIES = 256

PARTS = {
    "form": "all",
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


def _loaded(data: dict[str, Any]) -> Any:
    changes = data.get("changes")
    return changes.get("digest") if isinstance(changes, dict) else None


_SET_OF: dict[str, Callable[[dict[str, Any]], Any]] = {
    "policy.compared": lambda data: data.get("to"),
    "policy.replayed": lambda data: data.get("policyDigest"),
    "policy.shadowed": lambda data: data.get("digest"),
    "policy.promoted": lambda data: data.get("digest"),
    "policy.overridden": lambda data: data.get("digest"),
    "policy.loaded": _loaded,
}


def verify_policy_change(
    change: Any, trust: Trust, now_ms: int, anchors: Sequence[Anchor]
) -> Report:
    """Verify the entries about a policy set, which were parsed already."""
    try:
        _require_change(change)
    except Refused as why:
        return fail_form(str(why))
    context = Context(_evidence(change), trust, now_ms, anchors)
    checks = run_checks(
        PARTS,
        {
            "certificate": lambda: check_certificate(context),
            "revocation": lambda: check_revocation(context),
            "signature": lambda: check_signature(context),
            "segment": lambda: _check_segment(change),
            "openings": lambda: _check_openings(change),
            "checkpoint": lambda: check_checkpoint(context),
            "inclusion": lambda: _check_inclusion(change, context),
            "anchors": lambda: check_anchors(context, {}),
            "times": lambda: check_times(context, change["entries"][-1]["header"]["ts"]),
        },
    )
    return Report(checks, context.assurance)


def _require_change(change: Any) -> None:
    """Require the form: of each value by itself."""
    names = "bundleId version kind tenantId policyDigest exportedAt entries leftOut proof"
    require_members(change, [*names.split(), "signatures"], "the policy change")
    require_id(change["bundleId"], "bundleId")
    require(change["version"] == "1.0", "the version is not 1.0")
    require(change["kind"] == KIND, f"kind is not {KIND}")
    require_text(change["tenantId"], "tenantId")
    require_chain(_chain(change), "the tenant's chain")
    require_digest(change["policyDigest"], "policyDigest")
    require_list(change["entries"], "entries", 1, MAX_ENTRIES)
    for entry in change["entries"]:
        require_members(entry, ("header", "actor", "data", "inclusion"), "an entry")
        require_header(entry["header"], "an entry")
        for name in ("actor", "data"):
            require_members(entry[name], ("salt", "value"), f"{name} of an entry")
            decode_bytes(entry[name]["salt"], SALT_BYTES, f"the salt of {name}")
            require_object(entry[name]["value"], f"the value of {name}")
        decode_hashes(entry["inclusion"], "inclusion of an entry")
    require_count(change["leftOut"], "leftOut")
    proof = change["proof"]
    require_members(proof, ("v", "origin", "checkpoint", "certificate", "rotations"), "proof")
    require_one(proof["v"], "v of the proof")
    require_attested(change, proof)


def _chain(change: dict[str, Any]) -> str:
    return f"{change['tenantId']}/live"


def _evidence(change: dict[str, Any]) -> Evidence:
    return evidence_of(change, change["proof"], _chain(change), CHANGE_TYPE)


def _check_segment(change: dict[str, Any]) -> None:
    """Check `segment`: entries of the tenant's live chain, in its order."""
    last = -1
    for entry in change["entries"]:
        header = entry["header"]
        require(header["chain"] == _chain(change), "an entry is of another chain")
        require(header["seq"] > last, "an entry is not in the order of the chain")
        last = header["seq"]


def _check_openings(change: dict[str, Any]) -> None:
    """Check `openings`: what is shown of each entry, which must tell of the set."""
    for entry in change["entries"]:
        header, data = entry["header"], entry["data"]["value"]
        require(set(header["commits"]) == {"actor", "data"}, "an entry has other sections")
        for name in ("actor", "data"):
            require_opening(header, name, entry[name]["salt"], entry[name]["value"])
        set_of = _SET_OF.get(header["type"])
        is_about = set_of is not None and set_of(data) == change["policyDigest"]
        require(is_about, "an entry does not tell of the set")


def _check_inclusion(change: dict[str, Any], context: Context) -> None:
    """Check `inclusion`."""
    note = context.evidence.note
    for entry in change["entries"]:
        header, path = entry["header"], decode_hashes(entry["inclusion"], "inclusion")
        require_inclusion(entry_hash(header), header["seq"], note.size, path, note.root)
