#!/usr/bin/env python3
"""Writes vector.json: the golden vector of docs/format.md, computed from the document alone.

An implementation in another language, so that the vector cannot repeat a mistake of ours.
Standard library only. The JSON in it holds no floats and only ASCII keys, for which
json.dumps(sort_keys, no spaces) is the RFC 8785 form.
"""
import hashlib
import json
import pathlib


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
                                     "session": None, "taken": None, "historyEnd": None,
                                     "unevaluable": [], "approvalId": None, "planValidated": False}),
])
third = entry(second["hash"], 2, CHAIN, "aud_0000000000000000000000000c", "2026-01-01T00:00:02.000Z", "custom.note", [
    ("data", bytes([0x21]) * 32, {"note": "hello"}),
    ("actor", bytes([0x22]) * 32, {"kind": "key", "id": "key_0000000000000000000000000a", "identity": None, "roles": ["agent"]}),
])
vector = {"origin": ORIGIN, "chain": CHAIN, "genesisPrev": genesis(ORIGIN, CHAIN), "entries": [first, second, third]}
target = pathlib.Path(__file__).with_name("vector.json")
target.write_text(json.dumps(vector, indent=2, ensure_ascii=False) + "\n")
