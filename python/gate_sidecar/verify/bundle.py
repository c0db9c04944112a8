"""Bundles and envelopes ("The bundle", "Verifying a bundle", "The envelope")."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from .anchors import Anchor
from .approval import require_approval, require_principals
from .attested import Evidence, evidence_of, require_attested, require_certificate
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
    KEY_BYTES,
    SALT_BYTES,
    Refused,
    decode_base64,
    decode_bytes,
    decode_hashes,
    parse_time,
    require,
    require_action,
    require_digest,
    require_id,
    require_list,
    require_members,
    require_object,
    require_one,
    require_text,
)
from .merkle import require_inclusion
from .notes import parse_note
from .policy_change import verify_policy_change
from .report import Report, fail_form, run_checks
from .strict_json import canonical, parse
from .trust import Trust
from .voters import read_keys, require_voters

BUNDLE_TYPE = "application/vnd.gate-sidecar.trust-bundle.v1+json"
MAX_ENTRIES = 1024
MAX_APPROVAL_ENTRIES = 256
MAX_PAYLOAD = 12_000_000
DECISIONS = ("allow", "deny", "require_approval")
SECTIONS = ("decision", "request", "risk", "grounds")
MAX_KEYS = 512
MAX_BESIDE = 2
REDACTABLE = ("request", "risk", "approval", "keys")

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
    "approval": "chain",
    "times": "time",
}


def verify_bundle(data: bytes, trust: Trust, now_ms: int, anchors: Sequence[Anchor]) -> Report:
    """Verify a bundle, an envelope with a bundle, or a policy change."""
    try:
        value = parse(data)
        require_object(value, "the file")
        if "kind" in value:
            return verify_policy_change(value, trust, now_ms, anchors)
        bundle = _open_envelope(value) if "payloadType" in value else value
        _require_bundle(bundle)
    except Refused as why:
        return fail_form(str(why))
    context = Context(_evidence(bundle), trust, now_ms, anchors)
    checks = run_checks(
        PARTS,
        {
            "certificate": lambda: check_certificate(context),
            "revocation": lambda: check_revocation(context),
            "signature": lambda: check_signature(context),
            "segment": lambda: _check_segment(bundle),
            "openings": lambda: _check_openings(bundle),
            "checkpoint": lambda: check_checkpoint(context),
            "inclusion": lambda: _check_inclusion(bundle, context),
            "anchors": lambda: check_anchors(context, {}),
            "approval": lambda: _check_approval(bundle, context),
            "times": lambda: _check_times(bundle, context),
        },
    )
    proof = bundle["proof"]
    observed = proof["grounds"].get("observed")
    told = observed if observed in DECISIONS else None
    return Report(checks, context.assurance, tuple(proof["redacted"]), told)


def _open_envelope(envelope: Any) -> dict[str, Any]:
    """Make a bundle of an envelope: `signatures.service` has the key of the certificate."""
    require_members(envelope, ("payloadType", "payload", "signatures"), "the envelope")
    require(envelope["payloadType"] == BUNDLE_TYPE, "the envelope has another payloadType")
    require_list(envelope["signatures"], "signatures of the envelope", 1, 1)
    signature = envelope["signatures"][0]
    require_members(signature, ("keyid", "sig"), "the signature of the envelope")
    require_text(envelope["payload"], "the payload", MAX_PAYLOAD)
    payload = decode_base64(envelope["payload"], "the payload")
    bundle: dict[str, Any] = parse(payload)
    require(canonical(bundle) == payload, "the payload is not canonical")
    require_object(bundle, "the payload")
    require("signatures" not in bundle, "the payload has signatures")
    require_object(bundle.get("proof"), "proof")
    require_certificate(bundle["proof"].get("certificate"))
    public_key = bundle["proof"]["certificate"]["statement"]["publicKey"]
    digest = hashlib.sha256(decode_bytes(public_key, KEY_BYTES, "publicKey")).digest()
    require(signature["keyid"] == digest_text(digest), "keyid is not of the certificate's key")
    service = {"algorithm": "ed25519", "publicKey": public_key, "signature": signature["sig"]}
    bundle["signatures"] = {"service": service}
    return bundle


def _require_bundle(bundle: Any) -> None:
    """Require the form of a bundle: of each value by itself."""
    names = "bundleId version decision context auditChain exportedAt proof signatures"
    require_members(bundle, names.split(), "the bundle")
    require_id(bundle["bundleId"], "bundleId")
    require(bundle["version"] == "1.0", "the version is not 1.0")
    _require_decision(bundle["decision"])
    require_members(bundle["context"], ("originalRequest", "riskAssessment"), "context")
    require_object(bundle["context"]["originalRequest"], "originalRequest")
    require_object(bundle["context"]["riskAssessment"], "riskAssessment")
    _require_audit_chain(bundle["auditChain"])
    _require_proof(bundle["proof"])
    require_attested(bundle, bundle["proof"])


def _require_decision(decision: Any) -> None:
    require_members(decision, ("id", "action", "decision", "timestamp"), "decision")
    require_id(decision["id"], "id of the decision")
    require_action(decision["action"], "action of the decision")
    require(decision["decision"] in DECISIONS, "the decision is none of the three")
    parse_time(decision["timestamp"], "timestamp of the decision")


def _require_audit_chain(chain: Any) -> None:
    require_list(chain, "auditChain", 1, MAX_ENTRIES)
    for link in chain:
        require_members(link, ("hash", "previousHash"), "an entry of auditChain")
        require_digest(link["hash"], "a hash of auditChain")
        require_digest(link["previousHash"], "a previousHash of auditChain")


def _require_proof(proof: Any) -> None:
    """Require the form of `proof`, but for what exports have too."""
    names = "v origin entries inclusion checkpoint grounds openings approval keys beside"
    require_members(proof, [*names.split(), "certificate", "rotations", "redacted"], "proof")
    require_one(proof["v"], "v of the proof")
    require_list(proof["entries"], "entries", 1, MAX_ENTRIES)
    for header in proof["entries"]:
        require_header(header, "an entry")
    decode_hashes(proof["inclusion"], "inclusion")
    require_object(proof["grounds"], "grounds")
    _require_openings(proof["openings"])
    _require_proven(proof["approval"], MAX_APPROVAL_ENTRIES, "approval")
    _require_proven(proof["keys"], MAX_KEYS, "keys")
    require_list(proof["beside"], "beside", most=MAX_BESIDE)
    for note in proof["beside"]:
        parse_note(note)
    require_list(proof["redacted"], "redacted", most=len(REDACTABLE))
    for name in proof["redacted"]:
        require(name in REDACTABLE, "redacted names something else")
        require(proof["redacted"].count(name) == 1, "redacted has a name twice")


def _require_proven(entries: Any, most: int, what: str) -> None:
    """Require the form of entries that are shown with their data and their place."""
    require_list(entries, what, most=most)
    for entry in entries:
        require_members(entry, ("header", "data", "salt", "inclusion"), f"an entry of {what}")
        require_header(entry["header"], f"an entry of {what}")
        require_object(entry["data"], f"data of an entry of {what}")
        decode_bytes(entry["salt"], SALT_BYTES, f"the salt of an entry of {what}")
        decode_hashes(entry["inclusion"], f"inclusion of an entry of {what}")


def _require_openings(openings: Any) -> None:
    require_object(openings, "openings")
    require({"decision", "grounds"} <= set(openings) <= set(SECTIONS), "openings has other members")
    for salt in openings.values():
        decode_bytes(salt, SALT_BYTES, "a salt")


def _evidence(bundle: dict[str, Any]) -> Evidence:
    chain: str = bundle["proof"]["entries"][-1]["chain"]
    beside = bundle["proof"]["beside"]
    return evidence_of(bundle, bundle["proof"], chain, BUNDLE_TYPE, beside)


def _check_segment(bundle: dict[str, Any]) -> None:
    """Check `segment`."""
    proof = bundle["proof"]
    require(
        len(bundle["auditChain"]) == len(proof["entries"]),
        "auditChain and entries differ in length",
    )
    before = None
    for link, header in zip(bundle["auditChain"], proof["entries"]):
        require(link["hash"] == digest_text(entry_hash(header)), "a hash is not that of its entry")
        require(link["previousHash"] == header["prev"], "a previousHash is not prev of its entry")
        require_link(proof["origin"], before, header)
        before = header


def _check_openings(bundle: dict[str, Any]) -> None:
    """Check `openings`."""
    proof, context, decision = bundle["proof"], bundle["context"], bundle["decision"]
    header = proof["entries"][-1]
    values = {
        "decision": decision,
        "request": context["originalRequest"],
        "risk": context["riskAssessment"],
        "grounds": proof["grounds"],
    }
    require(header["type"] == "gate.decision", "the last entry is not a decision")
    require(decision["id"].startswith("dec_"), "the id of the decision does not begin with dec_")
    require(header["id"] == "aud_" + decision["id"][4:], "the entry is of another decision")
    require(set(header["commits"]) == set(SECTIONS), "the entry has not the four commitments")
    for name in SECTIONS:
        redacted = name in proof["redacted"]
        require(
            redacted != (name in proof["openings"]), f"{name} is redacted and shown, or neither"
        )
        if redacted:
            require(values[name] == {}, f"{name} is redacted and there")
        else:
            require_opening(header, name, proof["openings"][name], values[name])


def _check_inclusion(bundle: dict[str, Any], context: Context) -> None:
    """Check `inclusion`."""
    header, note = bundle["proof"]["entries"][-1], context.evidence.note
    proof = decode_hashes(bundle["proof"]["inclusion"], "inclusion")
    require_inclusion(entry_hash(header), header["seq"], note.size, proof, note.root)


def _check_approval(bundle: dict[str, Any], context: Context) -> None:
    """Check `approval`. Nothing is asked of a redacted one but that it is not there."""
    proof = bundle["proof"]
    allowed = bundle["decision"]["decision"] == "allow"
    decided = allowed and proof["grounds"].get("decidedBy") == "approval"
    shown = decided and "approval" not in proof["redacted"]
    if not shown or "keys" in proof["redacted"]:
        require(not proof["keys"] and not proof["beside"], "there are keys of no approval")
    if not shown:
        require(not proof["approval"], "there is an approval that is not to be there")
        require(decided or "approval" not in proof["redacted"], "there was no approval to redact")
        require("keys" not in proof["redacted"], "there are no keys that could be missing")
        return
    request = None if "request" in proof["redacted"] else bundle["context"]["originalRequest"]
    header = proof["entries"][-1]
    record = require_approval(
        proof["approval"], header, proof["grounds"], request, context.evidence.note
    )
    if "keys" in proof["redacted"]:
        require_principals(record)
        return
    notes = {header["chain"]: context.evidence.note, **context.beside}
    keys = read_keys(proof["keys"], header["chain"], notes)
    others = {entry["header"]["chain"] for entry in proof["keys"]} - {header["chain"]}
    chains = [note.chain for note in context.evidence.beside]
    require(chains == sorted(others), "there is not one checkpoint for each other chain")
    seqs = [entry["header"]["seq"] for entry in proof["approval"][1:]]
    require_voters(record, seqs, keys)


def _check_times(bundle: dict[str, Any], context: Context) -> None:
    """Check `times`."""
    last_ts: str = bundle["proof"]["entries"][-1]["ts"]
    require(
        bundle["decision"]["timestamp"] == last_ts,
        "the timestamp of the decision is not ts of the last entry",
    )
    check_times(context, last_ts)
