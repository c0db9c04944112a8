"""A signer for tests. It writes evidence as docs/evidence.md says, without the verifier's code.

Only the arithmetic of Ed25519 is shared: it has its own public vectors.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any, Optional

from gate_sidecar.verify import ed25519

ORIGIN = "gate.example"
CHAIN = "acme/live"
NOW = "2026-01-01T02:00:00.000Z"
NOW_MS = 1767232800000

LOG_KEY = b"log key of the instance, seed...".ljust(32, b".")
NEXT_LOG_KEY = b"the next log key, a seed........".ljust(32, b".")
THIRD_LOG_KEY = b"the third log key, a seed.......".ljust(32, b".")
BUNDLE_KEY = b"bundle key of the instance......".ljust(32, b".")
OTHER_KEY = b"a key of somebody else..........".ljust(32, b".")

BUNDLE_TYPE = "application/vnd.gate-sidecar.trust-bundle.v1+json"
EXPORT_TYPE = "application/vnd.gate-sidecar.export.v1+json"
CERTIFICATE_TYPE = "application/vnd.gate-sidecar.key-certificate.v1+json"
ROTATION_TYPE = "application/vnd.gate-sidecar.key-rotation.v1+json"

Json = dict[str, Any]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def text_digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def jcs(value: Any) -> bytes:
    """The canonical form of what these tests use: integers, and ASCII names of members."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def time(seconds: int) -> str:
    """The time so many seconds after the start of 2026, in its first day."""
    hours, minutes = divmod(seconds // 60, 60)
    return f"2026-01-01T{hours:02}:{minutes:02}:{seconds % 60:02}.000Z"


# Keys


def _expand(seed: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | 1 << 254
    return scalar, digest[32:]


def _times_base(scalar: int) -> bytes:
    return ed25519.encode(ed25519.multiply_two(scalar, ed25519.B, 0, ed25519.NEUTRAL))


_PUBLIC: dict[bytes, bytes] = {}


def public(seed: bytes) -> bytes:
    if seed not in _PUBLIC:
        _PUBLIC[seed] = _times_base(_expand(seed)[0])
    return _PUBLIC[seed]


def sign(seed: bytes, message: bytes) -> bytes:
    scalar, prefix = _expand(seed)
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % ed25519.L
    point = _times_base(r)
    k = int.from_bytes(hashlib.sha512(point + public(seed) + message).digest(), "little")
    return point + ((r + k * scalar) % ed25519.L).to_bytes(32, "little")


def sign_statement(seed: bytes, kind: str, statement: Any) -> str:
    payload = jcs(statement)
    head = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode()
    return b64(sign(seed, head + payload))


def key_id(origin: str, seed: bytes) -> bytes:
    return sha256(origin.encode() + b"\n\x01" + public(seed))[:4]


def vkey(seed: bytes, origin: str = ORIGIN) -> str:
    return f"{origin}+{key_id(origin, seed).hex()}+{b64(bytes([1]) + public(seed))}"


def trust_file(
    keys: Sequence[tuple[bytes, Optional[str]]] = ((LOG_KEY, None),),
    revoked: Sequence[tuple[bytes, str]] = (),
    origin: str = ORIGIN,
) -> bytes:
    return json.dumps(
        {
            "v": 1,
            "logKeys": [{"vkey": vkey(seed, origin), "until": until} for seed, until in keys],
            "revoked": [{"publicKey": b64(public(seed)), "since": at} for seed, at in revoked],
        }
    ).encode()


def certificate(
    signed_by: bytes = LOG_KEY,
    key: bytes = BUNDLE_KEY,
    origin: str = ORIGIN,
    purpose: str = "bundle",
    not_before: str = time(0),
    not_after: str = time(7200),
) -> Json:
    statement = {
        "origin": origin,
        "purpose": purpose,
        "publicKey": b64(public(key)),
        "notBefore": not_before,
        "notAfter": not_after,
    }
    return {
        "statement": statement,
        "signedBy": b64(public(signed_by)),
        "signature": sign_statement(signed_by, CERTIFICATE_TYPE, statement),
    }


def rotation(old: bytes, new: bytes, at: str = time(1800), origin: str = ORIGIN) -> Json:
    statement = {"origin": origin, "from": b64(public(old)), "to": b64(public(new)), "at": at}
    return {
        "statement": statement,
        "signatures": {
            "from": sign_statement(old, ROTATION_TYPE, statement),
            "to": sign_statement(new, ROTATION_TYPE, statement),
        },
    }


# The tree, by the definitions of RFC 6962, 2.1 and 2.1.1


def tree_root(hashes: Sequence[bytes]) -> bytes:
    """MTH(D[n]), of the leaf hashes."""
    if not hashes:
        return sha256(b"")
    if len(hashes) == 1:
        return hashes[0]
    split = _split(len(hashes))
    return sha256(b"\x01" + tree_root(hashes[:split]) + tree_root(hashes[split:]))


def tree_path(index: int, hashes: Sequence[bytes]) -> list[bytes]:
    """PATH(m, D[n]), of the leaf hashes."""
    if len(hashes) == 1:
        return []
    split = _split(len(hashes))
    if index < split:
        return tree_path(index, hashes[:split]) + [tree_root(hashes[split:])]
    return tree_path(index - split, hashes[split:]) + [tree_root(hashes[:split])]


def _split(count: int) -> int:
    """The largest power of two smaller than the count."""
    split = 1
    while split * 2 < count:
        split *= 2
    return split


def interval_roots(start: int, end: int, hashes: Sequence[bytes]) -> list[bytes]:
    """The roots of the complete subtrees of [start, end)."""
    roots = []
    while start < end:
        width = 1
        while start % (width * 2) == 0 and start + width * 2 <= end:
            width *= 2
        roots.append(tree_root(hashes[start : start + width]))
        start += width
    return roots


# A log


class Log:
    """A chain of entries of an instance."""

    def __init__(self, origin: str = ORIGIN, chain: str = CHAIN) -> None:
        self.origin, self.chain = origin, chain
        self.entries: list[Json] = []
        self.append("audit.genesis", "aud_genesis", {"data": {"started": True}}, time(0))

    def append(self, kind: str, entry_id: str, sections: Json, ts: str) -> int:
        seq = len(self.entries)
        made = {
            name: {"salt": b64(sha256(f"salt {seq} {name}".encode())), "value": value}
            for name, value in sections.items()
        }
        if seq == 0:
            place = f"gate-sidecar/genesis/v1\n{self.origin}\n{self.chain}\n"
            prev = text_digest(place.encode())
        else:
            prev = self.entries[-1]["hash"]
        header = {
            "chain": self.chain,
            "commits": {name: commitment(name, made[name]) for name in made},
            "id": entry_id,
            "prev": prev,
            "seq": seq,
            "ts": ts,
            "type": kind,
            "v": 1,
        }
        self.entries.append({"hash": header_digest(header), "header": header, "sections": made})
        return seq

    def leaves(self) -> list[bytes]:
        return [sha256(b"\x00" + bytes.fromhex(entry["hash"][7:])) for entry in self.entries]

    def checkpoint(self, signers: Sequence[bytes] = (LOG_KEY,), size: int = -1) -> str:
        size = len(self.entries) if size < 0 else size
        root = b64(tree_root(self.leaves()[:size]))
        return note(f"{self.origin}/{self.chain}\n{size}\n{root}\n", signers, self.origin)

    def inclusion(self, seq: int) -> list[str]:
        return [b64(item) for item in tree_path(seq, self.leaves())]


def note(text: str, signers: Sequence[bytes], origin: str = ORIGIN) -> str:
    lines = (
        f"\u2014 {origin} {b64(key_id(origin, seed) + sign(seed, text.encode()))}\n"
        for seed in signers
    )
    return text + "\n" + "".join(lines)


def commitment(name: str, section: Json) -> str:
    salt = base64.b64decode(section["salt"])
    prefix = f"gate-sidecar/commit/v1\n{name}\n".encode()
    return text_digest(prefix + salt + jcs(section["value"]))


def header_digest(header: Json) -> str:
    return text_digest(b"gate-sidecar/entry/v1\n" + jcs(header))


def anchor(at: str, checkpoint: str) -> bytes:
    return json.dumps({"at": at, "checkpoint": checkpoint, "v": 1}).encode() + b"\n"


# A scene: a chain with an approval and the decision it led to

REQUEST = {
    "action": "payments.transfer",
    "context": {"amount": 1200, "to": "acct-7", "trace": {"id": "t-1", "note": "caf\u00e9"}},
    "plan": {"steps": [1, 2], "started at": "noon"},
}
UNBOUND = ["context.trace.id", 'plan["started at"]', "context.absent.member"]


def approval_digest(request: Json, chain: str, requester: str) -> str:
    bound = {
        "action": request["action"],
        "chain": chain,
        "context": {"amount": 1200, "to": "acct-7", "trace": {"note": "caf\u00e9"}},
        "plan": {"steps": [1, 2]},
        "requester": requester,
    }
    return text_digest(b"gate-sidecar/approval/v1\n" + jcs(bound))


def vote_entries(log: Log, changes: Sequence[Json], start: int = 10) -> list[int]:
    """Append the entries of an approval, with other entries between them."""
    found = []
    for number, change in enumerate(changes):
        kind = "approval.requested" if number == 0 else "approval.approved"
        revised = {"revision": number + 1, **change}
        data = {"record": "approval", "id": "apr_1", "changes": revised}
        ts = time(start + 10 * number)
        found.append(log.append(kind, f"aud_apr{number}", {"data": data}, ts))
        log.append("policy.loaded", f"aud_other{number}", {"data": {"n": number}}, ts)
    return found


def key_data(name: str, **replaced: Any) -> Json:
    """The data of the entry that makes a key, of a person unless something else is said."""
    changes = {
        "id": f"key_{name}",
        "revision": 1,
        "roles": ["approver"],
        "groups": [],
        "identity": name,
        "createdBy": "host:0",
        "expiresAt": None,
        "revokedAt": None,
        **replaced,
    }
    return {"record": "key", "id": f"key_{name}", "changes": changes}


def agent_key() -> Json:
    return key_data("agent", roles=["agent"], identity="agent-1")


def vote(name: str, number: int) -> Json:
    return {"principal": name, "keyId": f"key_{name}", "entryId": f"aud_apr{number}"}


def approval_changes(**replaced: Any) -> list[Json]:
    digest = approval_digest(REQUEST, CHAIN, "agent-1")
    requested = {
        "status": "pending",
        "quorum": 2,
        "approvers": [],
        "selfApproval": False,
        "requestedBy": "agent-1",
        "requestedByKey": "key_agent",
        "decidedAt": None,
        "votes": [],
        "digest": digest,
        "unbound": UNBOUND,
    }
    votes = [vote("ann", 1), vote("bob", 2)]
    first = {"votes": votes[:1]}
    last = {"status": "approved", "decidedAt": time(30), "votes": votes}
    return [requested, first, {**last, **replaced}]


class Scene:
    """A log with an approval and a decision, and the bundle for that decision."""

    def __init__(
        self,
        changes: Optional[Sequence[Json]] = None,
        decided_by: str = "approval",
        log_key: bytes = LOG_KEY,
        request: Json = REQUEST,
        keys: Optional[Sequence[Json]] = None,
        **decision: Any,
    ) -> None:
        self.log = Log()
        self.log_key = log_key
        made = [agent_key(), key_data("ann"), key_data("bob")] if keys is None else keys
        self.keys = [
            self.log.append("key.created", f"aud_key{number}", {"data": data}, time(1))
            for number, data in enumerate(made)
        ]
        self.approval = vote_entries(self.log, changes or approval_changes())
        self.decided_by = decided_by
        self.decision = {
            "id": "dec_42",
            "action": "payments.transfer",
            "decision": "allow",
            "timestamp": time(60),
            **decision,
        }
        sections = {
            "decision": self.decision,
            "request": request,
            "risk": {"score": 7, "level": "high"},
            "grounds": {
                "decidedBy": decided_by,
                "approvalId": "apr_1",
                "caller": {"agent": "agent-1"},
            },
        }
        self.seq = self.log.append("gate.decision", "aud_42", sections, time(60))
        self.log.append("policy.loaded", "aud_after", {"data": {"n": 9}}, time(70))
        self.log.append("policy.loaded", "aud_after2", {"data": {"n": 10}}, time(80))

    def bundle(
        self,
        entries: int = 3,
        redacted: Sequence[str] = (),
        bundle_key: bytes = BUNDLE_KEY,
        **proof: Any,
    ) -> Json:
        shown = self.log.entries[self.seq - entries + 1 : self.seq + 1]
        sections = shown[-1]["sections"]
        bundle = {
            "bundleId": "bdl_1",
            "version": "1.0",
            "decision": self.decision,
            "context": {
                "originalRequest": {} if "request" in redacted else sections["request"]["value"],
                "riskAssessment": {} if "risk" in redacted else sections["risk"]["value"],
            },
            "auditChain": [
                {"hash": entry["hash"], "previousHash": entry["header"]["prev"]} for entry in shown
            ],
            "exportedAt": time(3600),
            "proof": {
                "v": 1,
                "origin": ORIGIN,
                "entries": [entry["header"] for entry in shown],
                "inclusion": self.log.inclusion(self.seq),
                "checkpoint": self.log.checkpoint((self.log_key,)),
                "grounds": sections["grounds"]["value"],
                "openings": {
                    name: section["salt"]
                    for name, section in sections.items()
                    if name not in redacted
                },
                "approval": self._shown(self.approval, redacted, "approval"),
                "keys": self._shown(self.keys, redacted, "approval", "keys"),
                "beside": [],
                "certificate": certificate(self.log_key),
                "rotations": [],
                "redacted": list(redacted),
                **proof,
            },
        }
        return sign_bundle(json.loads(json.dumps(bundle)), bundle_key)

    def _shown(self, seqs: Sequence[int], redacted: Sequence[str], *names: str) -> list[Json]:
        if self.decided_by != "approval" or any(name in redacted for name in names):
            return []
        return [self.proven(seq) for seq in seqs]

    def proven(self, seq: int) -> Json:
        """The entry with its data, and its place in the tree."""
        entry = self.log.entries[seq]
        return {
            "header": entry["header"],
            "data": entry["sections"]["data"]["value"],
            "salt": entry["sections"]["data"]["salt"],
            "inclusion": self.log.inclusion(seq),
        }


def sign_bundle(bundle: Json, key: bytes = BUNDLE_KEY) -> Json:
    """Sign a bundle, or sign it again after a change."""
    statement = {name: value for name, value in bundle.items() if name != "signatures"}
    bundle["signatures"] = {"service": _service(BUNDLE_TYPE, statement, key)}
    return bundle


def _service(kind: str, statement: Json, key: bytes) -> Json:
    return {
        "algorithm": "ed25519",
        "publicKey": b64(public(key)),
        "signature": sign_statement(key, kind, statement),
    }


def envelope(bundle: Json) -> Json:
    """The same signature as a DSSE envelope."""
    service = bundle["signatures"]["service"]
    statement = {name: value for name, value in bundle.items() if name != "signatures"}
    keyid = text_digest(base64.b64decode(service["publicKey"]))
    return {
        "payloadType": BUNDLE_TYPE,
        "payload": b64(jcs(statement)),
        "signatures": [{"keyid": keyid, "sig": service["signature"]}],
    }


# Exports


def entry_lines(entries: Sequence[Json]) -> bytes:
    return b"".join(jcs(entry) + b"\n" for entry in entries)


def manifest(log: Log, first: int, end: int, lines: bytes, **replaced: Any) -> Json:
    leaves = log.leaves()
    value = {
        "v": 1,
        "version": "1.0",
        "origin": log.origin,
        "chain": log.chain,
        "first": first,
        "end": end,
        "exportedAt": time(3600),
        "files": {
            "entries.jsonl": {"bytes": len(lines), "sha256": text_digest(lines)},
            "entries.csv": {"bytes": 4, "sha256": text_digest(b"seq\n")},
        },
        "checkpoint": log.checkpoint(),
        "range": {
            "left": [b64(item) for item in interval_roots(0, first, leaves)],
            "right": [b64(item) for item in interval_roots(end, len(leaves), leaves)],
        },
        "certificate": certificate(),
        "rotations": [],
        **replaced,
    }
    return sign_manifest(json.loads(json.dumps(value)))


def sign_manifest(value: Json, key: bytes = BUNDLE_KEY) -> Json:
    statement = {name: member for name, member in value.items() if name != "signatures"}
    value["signatures"] = {"service": _service(EXPORT_TYPE, statement, key)}
    return value


def write_export(folder: str, value: Json, lines: bytes) -> None:
    contents = {
        "manifest.json": json.dumps(value).encode(),
        "entries.jsonl": lines,
        "entries.csv": b"seq\n",
        "VERIFY.md": b"# How to verify\n",
    }
    for name, content in contents.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
