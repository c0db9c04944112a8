#!/usr/bin/env python3
"""Writes vector.json: the golden vector of docs/format.md and docs/evidence.md, computed from these documents alone.

An implementation in another language, so that the vector cannot repeat a mistake of ours.
Standard library only. The JSON in it holds no floats and only ASCII keys, for which
json.dumps(sort_keys, no spaces) is the RFC 8785 form.
"""
import base64
import hashlib
import json
import pathlib

import ed25519


def jcs(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def commit(name, salt, text):
    return sha(b"gate-sidecar/commit/v1\n" + name.encode() + b"\n" + salt + text.encode())


def genesis(origin, chain):
    return sha(f"gate-sidecar/genesis/v1\n{origin}\n{chain}\n".encode())


def entry(prev, seq, chain, ident, ts, kind, sections):
    stored = [{"name": n, "salt": s.hex(), "json": jcs(v)} for n, s, v in sections]
    commits = {n: commit(n, s, jcs(v)) for n, s, v in sections}
    header = jcs({"chain": chain, "commits": commits, "id": ident, "prev": prev, "seq": seq, "ts": ts, "type": kind, "v": 1})
    return {"header": header, "hash": sha(b"gate-sidecar/entry/v1\n" + header.encode()), "sections": stored}


ORIGIN, CHAIN = "gate.example", "acme/live"
service = {"id": "gate-sidecar", "kind": "service"}
first = entry(genesis(ORIGIN, CHAIN), 0, CHAIN, "aud_0000000000000000000000000a", "2026-01-01T00:00:00.000Z", "audit.genesis", [
    ("data", bytes([0x01]) * 32, {"chain": CHAIN, "origin": ORIGIN}),
    ("actor", bytes([0x02]) * 32, service),
])
second = entry(first["hash"], 1, CHAIN, "aud_0000000000000000000000000b", "2026-01-01T00:00:01.000Z", "gate.decision", [
    ("decision", bytes([0x11]) * 32, {"id": "dec_0000000000000000000000000b", "action": "payment.transfer", "decision": "deny", "timestamp": "2026-01-01T00:00:01.000Z"}),
    ("request", bytes([0x12]) * 32, {"tenantId": "acme", "action": "payment.transfer", "context": {"amount": 1200, "currency": "€", "to": "acct_9"}}),
    ("risk", bytes([0x13]) * 32, {"score": 50, "factors": [{"name": "amount", "weight": 50, "contribution": 50}]}),
    ("grounds", bytes([0x14]) * 32, {"rule": None, "reason": "No rule allows this action.", "decidedBy": "default", "retry": "never", "policyDigest": "sha256:" + "00" * 32,
                                     "evaluatedAt": "2026-01-01T00:00:00.999Z", "caller": {"keyId": "key_0000000000000000000000000a", "roles": ["agent"], "agent": "key_0000000000000000000000000a"},
                                     "domain": "finance", "session": None, "taken": None, "historyEnd": None,
                                     "unevaluable": [], "approvalId": None, "planValidated": False}),
])
third = entry(second["hash"], 2, CHAIN, "aud_0000000000000000000000000c", "2026-01-01T00:00:02.000Z", "custom.note", [
    ("data", bytes([0x21]) * 32, {"note": "hello"}),
    ("actor", bytes([0x22]) * 32, {"kind": "key", "id": "key_0000000000000000000000000a", "identity": None, "roles": ["agent"]}),
])


def b64(data):
    return base64.b64encode(data).decode()


def raw(digest):
    return bytes.fromhex(digest.removeprefix("sha256:"))


# The tree of RFC 6962, 2.1, as it is defined there.
def root(leaves):
    if len(leaves) == 1:
        return leaves[0]
    left = split(len(leaves))
    return hashlib.sha256(b"\x01" + root(leaves[:left]) + root(leaves[left:])).digest()


def split(size):
    return 1 << (size - 1).bit_length() - 1


def inclusion(index, leaves):
    if len(leaves) == 1:
        return []
    left = split(len(leaves))
    if index < left:
        return inclusion(index, leaves[:left]) + [root(leaves[left:])]
    return inclusion(index - left, leaves[left:]) + [root(leaves[:left])]


# The secret keys of RFC 8032, 7.1: TEST 1 is the log key, TEST 2 the bundle key, TEST 3 the log key after it.
LOG = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
BUNDLE = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
NEXT = bytes.fromhex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")


def key_id(seed):
    return hashlib.sha256(f"{ORIGIN}\n".encode() + b"\x01" + ed25519.public_key(seed)).digest()[:4]


def vkey(seed):
    typed = b"\x01" + ed25519.public_key(seed)
    return f"{ORIGIN}+{key_id(seed).hex()}+{b64(typed)}"


def note(text, seed):
    return f"{text}\n\u2014 {ORIGIN} {b64(key_id(seed) + ed25519.sign(seed, text.encode()))}\n"


def media_type(kind):
    return f"application/vnd.gate-sidecar.{kind}.v1+json"


def pae(kind, statement):
    payload = jcs(statement).encode()
    return f"DSSEv1 {len(media_type(kind))} {media_type(kind)} {len(payload)} ".encode() + payload


def signature(kind, statement, seed):
    return b64(ed25519.sign(seed, pae(kind, statement)))


def public(seed):
    return b64(ed25519.public_key(seed))


chain_of_3 = [first, second, third]
leaves = [hashlib.sha256(b"\x00" + raw(one["hash"])).digest() for one in chain_of_3]
checkpoint = note(f"{ORIGIN}/{CHAIN}\n3\n{b64(root(leaves))}\n", LOG)
certified = {"origin": ORIGIN, "purpose": "bundle", "publicKey": public(BUNDLE),
             "notBefore": "2026-01-01T00:00:00.000Z", "notAfter": "2026-01-02T00:00:00.000Z"}
certificate = {"statement": certified, "signedBy": public(LOG), "signature": signature("key-certificate", certified, LOG)}
rotated = {"origin": ORIGIN, "from": public(LOG), "to": public(NEXT), "at": "2026-01-01T12:00:00.000Z"}
rotation = {"statement": rotated, "signatures": {"from": signature("key-rotation", rotated, LOG), "to": signature("key-rotation", rotated, NEXT)}}

shown = {section["name"]: section for section in second["sections"]}
values = {name: json.loads(section["json"]) for name, section in shown.items()}
headers = [json.loads(one["header"]) for one in (first, second)]
unsigned = {
    "bundleId": "bun_0000000000000000000000000b",
    "version": "1.0",
    "decision": values["decision"],
    "context": {"originalRequest": values["request"], "riskAssessment": values["risk"]},
    "auditChain": [{"hash": one["hash"], "previousHash": header["prev"]} for one, header in zip((first, second), headers)],
    "exportedAt": "2026-01-01T13:00:00.000Z",
    "proof": {
        "v": 1,
        "origin": ORIGIN,
        "entries": headers,
        "inclusion": [b64(one) for one in inclusion(1, leaves)],
        "checkpoint": checkpoint,
        "grounds": values["grounds"],
        "openings": {name: b64(bytes.fromhex(section["salt"])) for name, section in shown.items()},
        "approval": [],
        "keys": [],
        "beside": [],
        "certificate": certificate,
        "rotations": [rotation],
        "redacted": [],
    },
}
signed = signature("trust-bundle", unsigned, BUNDLE)


def whole(bundle):
    return {**bundle, "signatures": {"service": {"algorithm": "ed25519", "publicKey": public(BUNDLE), "signature": signature("trust-bundle", bundle, BUNDLE)}}}


# An allow by an approval with two votes: by a key of its chain, and by an admin key, which was made in _system when acme/test had three entries.
def key(number, chain, roles, **members):
    ident = f"key_{number:026}"
    changes = {"id": ident, "revision": 1, "hash": "sha256:" + f"{number:02}" * 32, "tenantId": None if chain == "_system" else "acme", "environment": "test",
               "roles": roles, "identity": None, "groups": [], "name": None, "createdAt": "2026-01-01T00:00:00.000Z", "createdBy": "host:0", "expiresAt": None, "revokedAt": None, **members}
    return {"record": "key", "id": ident, "changes": changes}


def log(chain, drafts):
    made, prev = [], genesis(ORIGIN, chain)
    for seq, (kind, ident, sections) in enumerate(drafts):
        salted = [(name, hashlib.sha256(f"{chain} {seq} {name}".encode()).digest(), value) for name, value in sections]
        made.append(entry(prev, seq, chain, ident, f"2026-01-01T00:00:{seq:02}.000Z", kind, salted))
        prev = made[-1]["hash"]
    return made


def event(kind, number, data, actor):
    return kind, f"aud_{number:026}", [("data", data), ("actor", actor)]


def proven(made, seq):
    hashes = [hashlib.sha256(b"\x00" + raw(one["hash"])).digest() for one in made]
    data = next(one for one in made[seq]["sections"] if one["name"] == "data")
    return {"header": json.loads(made[seq]["header"]), "data": json.loads(data["json"]), "salt": b64(bytes.fromhex(data["salt"])),
            "inclusion": [b64(one) for one in inclusion(seq, hashes)]}


def signed_head(chain, made):
    hashes = [hashlib.sha256(b"\x00" + raw(one["hash"])).digest() for one in made]
    return note(f"{ORIGIN}/{chain}\n{len(made)}\n{b64(root(hashes))}\n", LOG)


TEST = "acme/test"
host = {"id": "host:0", "kind": "host"}
agent, voter = key(1, TEST, ["agent"]), key(2, TEST, ["approver"], identity="ann", groups=["treasury"], rotatedFrom="key_00000000000000000000000009")
admin = {**key(3, "_system", ["admin"], identity="root", environment="live", groups=["treasury"]), "lengths": {TEST: 3}}
request = {"tenantId": "acme", "action": "payment.payout", "context": {"amount": 7, "note": "first"}, "plan": {"action": "pay"}}
used = {**request, "context": {"amount": 7, "note": "second"}}
bound = {"action": request["action"], "chain": TEST, "context": {"amount": 7}, "plan": request["plan"], "requester": agent["id"]}
approval = {"id": "apr_00000000000000000000000001", "revision": 1, "chain": TEST, "action": request["action"], "domain": "finance", "status": "pending",
            "createdAt": "2026-01-01T00:00:04.000Z", "context": request["context"], "plan": request["plan"], "decisionId": "dec_00000000000000000000000004", "riskScore": 0, "factors": [],
            "reason": "A treasurer.", "rule": "payout", "explain": "full", "requestedBy": agent["id"], "requestedByKey": agent["id"], "quorum": 2, "selfApproval": False,
            "approvers": [["treasury"]], "unbound": ["context.note"], "votes": [], "expiresAt": "2026-01-02T00:00:00.000Z", "decidedAt": None, "decidedEnd": None,
            "digest": sha(b"gate-sidecar/approval/v1\n" + jcs(bound).encode())}


def vote(of, principal, number):
    return {"keyId": of["id"], "principal": principal, "approverId": principal, "comment": None, "votedAt": f"2026-01-01T00:00:{number:02}.000Z", "entryId": f"aud_{number:026}"}


votes = [vote(voter, "ann", 5), vote(admin, "root", 6)]
grounds = {**values["grounds"], "rule": "payout", "reason": "Approved by ann, root (apr_00000000000000000000000001).", "decidedBy": "approval", "domain": "finance",
           "caller": {"keyId": agent["id"], "roles": ["agent"], "agent": agent["id"]}, "taken": request["action"], "approvalId": approval["id"]}
allowed = {"id": "dec_00000000000000000000000007", "action": request["action"], "decision": "allow", "timestamp": "2026-01-01T00:00:07.000Z"}
told = {"kind": "key", "identity": None, "roles": ["agent"]}
test_log = log(TEST, [
    event("audit.genesis", 0, {"chain": TEST, "origin": ORIGIN}, service),
    event("key.created", 1, agent, host),
    event("key.created", 2, voter, host),
    event("custom.note", 3, {"note": "hello"}, {**told, "id": agent["id"]}),
    event("approval.requested", 4, {"record": "approval", "id": approval["id"], "changes": approval}, {**told, "id": agent["id"]}),
    event("approval.approved", 5, {"record": "approval", "id": approval["id"], "changes": {"revision": 2, "votes": votes[:1]}}, {"kind": "key", "id": voter["id"], "identity": "ann", "roles": ["approver"]}),
    event("approval.approved", 6, {"record": "approval", "id": approval["id"], "changes": {"revision": 3, "votes": votes, "status": "approved", "decidedAt": "2026-01-01T00:00:06.000Z", "decidedEnd": 6}},
          {"kind": "key", "id": admin["id"], "identity": "root", "roles": ["admin"]}),
    ("gate.decision", "aud_00000000000000000000000007", [("decision", allowed), ("request", used), ("risk", values["risk"]), ("grounds", grounds)]),
])
system_log = log("_system", [event("audit.genesis", 10, {"chain": "_system", "origin": ORIGIN}, service), event("key.created", 11, admin, host)])
opened = {one["name"]: b64(bytes.fromhex(one["salt"])) for one in test_log[7]["sections"]}
approved = {
    **unsigned,
    "bundleId": "bun_00000000000000000000000007",
    "decision": allowed,
    "context": {"originalRequest": used, "riskAssessment": values["risk"]},
    "auditChain": [{"hash": one["hash"], "previousHash": json.loads(one["header"])["prev"]} for one in test_log[6:]],
    "proof": {
        **unsigned["proof"],
        "entries": [json.loads(one["header"]) for one in test_log[6:]],
        "inclusion": [b64(one) for one in inclusion(7, [hashlib.sha256(b"\x00" + raw(one["hash"])).digest() for one in test_log])],
        "checkpoint": signed_head(TEST, test_log),
        "grounds": grounds,
        "openings": opened,
        "approval": [proven(test_log, seq) for seq in (4, 5, 6)],
        "keys": [proven(test_log, 1), proven(test_log, 2), proven(system_log, 1)],
        "beside": [signed_head("_system", system_log)],
    },
}
vector = {
    "origin": ORIGIN,
    "chain": CHAIN,
    "genesisPrev": genesis(ORIGIN, CHAIN),
    "entries": chain_of_3,
    "leaves": [b64(leaf) for leaf in leaves],
    "roots": [b64(root(leaves[:size])) for size in (1, 2, 3)],
    "inclusion": unsigned["proof"]["inclusion"],
    "vkey": vkey(LOG),
    "checkpoint": checkpoint,
    "certificate": certificate,
    "rotation": rotation,
    "bundle": {**unsigned, "signatures": {"service": {"algorithm": "ed25519", "publicKey": public(BUNDLE), "signature": signed}}},
    "approved": whole(approved),
    "pae": sha(pae("trust-bundle", unsigned)),
    "envelope": {"payloadType": media_type("trust-bundle"), "payload": b64(jcs(unsigned).encode()),
                 "signatures": [{"keyid": sha(ed25519.public_key(BUNDLE)), "sig": signed}]},
    "trust": {"v": 1, "logKeys": [{"vkey": vkey(LOG), "until": rotated["at"]}, {"vkey": vkey(NEXT), "until": None}],
              "revoked": [{"publicKey": b64(bytes([0x58]) + bytes([0x66]) * 31), "since": "2026-01-01T00:00:00.000Z"}]},
}
target = pathlib.Path(__file__).with_name("vector.json")
target.write_text(json.dumps(vector, indent=2, ensure_ascii=False) + "\n")
