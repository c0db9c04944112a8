"""Bundles and envelopes, check by check."""

import base64
import copy
import json
import unittest
from collections.abc import Sequence
from typing import Any, Callable

from gate_sidecar.verify import (
    Anchor,
    Refused,
    Report,
    Trust,
    read_anchors,
    read_trust,
    verify_bundle,
)
from gate_sidecar.verify.bundle import PARTS
from gate_sidecar.verify.report import report_lines

from . import signer
from .signer import (
    BUNDLE_KEY,
    LOG_KEY,
    NEXT_LOG_KEY,
    NOW_MS,
    ORIGIN,
    OTHER_KEY,
    REQUEST,
    THIRD_LOG_KEY,
    Json,
    Scene,
    anchor,
    approval_changes,
    b64,
    certificate,
    envelope,
    public,
    rotation,
    sign_bundle,
    time,
    trust_file,
)

SCENE = Scene()
TRUST = read_trust(trust_file())


def verify(
    bundle: Json, trust: Trust = TRUST, anchors: Sequence[Anchor] = (), now: int = NOW_MS
) -> Report:
    return verify_bundle(json.dumps(bundle).encode(), trust, now, anchors)


def results(report: Report) -> dict[str, str]:
    """The checks that are not ok."""
    return {check.check: check.result for check in report.checks if check.result != "ok"}


class Case(unittest.TestCase):
    maxDiff = None

    def assert_valid(self, report: Report) -> None:
        self.assertEqual((results(report), report.verdict), ({}, "valid"))

    def assert_failed(self, report: Report, *names: str) -> None:
        self.assertEqual(results(report), {name: "failed" for name in names})
        self.assertEqual(report.verdict, "invalid")

    def assert_unknown(self, report: Report, *names: str) -> None:
        self.assertEqual(results(report), {name: "unknown" for name in names})
        self.assertEqual(report.verdict, "incomplete")

    def changed(self, change: Callable[[Json], Any], **options: Any) -> Json:
        """A bundle that was changed, and signed again with the bundle key."""
        bundle = SCENE.bundle(**options)
        change(bundle)
        return sign_bundle(bundle)


class Whole(Case):
    def test_valid(self) -> None:
        for entries in (1, 2, 7, len(SCENE.log.entries) - 2):
            self.assert_valid(verify(SCENE.bundle(entries=entries)))

    def test_report(self) -> None:
        report = verify(SCENE.bundle(redacted=["risk"]))
        value = report.as_json()
        self.assertEqual([check["check"] for check in value.pop("checks")], list(PARTS))
        self.assertEqual(
            value,
            {
                "verdict": "valid",
                "valid": True,
                "signatureValid": True,
                "chainValid": True,
                "timestampValid": True,
                "assurance": "self-asserted",
                "redacted": ["risk"],
            },
        )
        self.assertEqual(
            report_lines(report)[-1],
            "VALID (only the service vouches for the time; erased: risk)",
        )

    def test_parts(self) -> None:
        for change, parts in [
            (lambda b: b["signatures"]["service"].update(algorithm="rsa"), (False, True, True)),
            (lambda b: b.update(exportedAt="2030-01-01T00:00:00.000Z"), (False, True, False)),
        ]:
            bundle = SCENE.bundle()
            change(bundle)
            value = verify(bundle).as_json()
            found = (value["signatureValid"], value["chainValid"], value["timestampValid"])
            self.assertEqual((found, value["valid"]), (parts, False))

    def test_wrong_form_fails_all(self) -> None:
        for data in [b"", b"{", b"[]", b"null", b"{}", b'{"payloadType":1}', b"[" * 100000]:
            report = verify_bundle(data, TRUST, NOW_MS, [])
            self.assert_failed(report, "form")
            self.assertEqual(report.as_json()["signatureValid"], False)

    def test_form(self) -> None:
        changes: list[Callable[[Json], Any]] = [
            lambda b: b.update(version="1.1"),
            lambda b: b.update(extra=1),
            lambda b: b["proof"].update(v=True),
            lambda b: b["proof"].update(origin="Gate"),
            lambda b: b["proof"]["entries"][0].update(v=2),
            lambda b: b["proof"]["entries"][0].update(seq="3"),
            lambda b: b["proof"]["entries"][0]["commits"].update({"a\nb": "sha256:" + "0" * 64}),
            lambda b: b["proof"]["entries"][0]["commits"].update({"": "sha256:" + "0" * 64}),
            lambda b: b["proof"]["entries"][0]["commits"].update({"aB": "sha256:" + "0" * 64}),
            lambda b: (b["proof"]["entries"].clear(), b["auditChain"].clear()),
            lambda b: b["proof"]["openings"].update(request="AAE="),
            lambda b: b["proof"]["openings"].pop("grounds"),
            lambda b: b["proof"].update(redacted=["grounds"]),
            lambda b: b["proof"].update(redacted=["approval", "approval"], approval=[]),
            lambda b: b["proof"].update(redacted=[["approval"]], approval=[]),
            lambda b: b["proof"].update(inclusion=[b64(bytes(31))]),
            lambda b: b["proof"]["certificate"].update(extra=1),
            lambda b: b["proof"].update(rotations={}),
            lambda b: b["context"].update(riskAssessment=[]),
            lambda b: b["decision"].update(decision=None),
            lambda b: b["proof"]["approval"][0].pop("salt"),
            lambda b: b["proof"]["approval"][0].update(data=[]),
            lambda b: b["proof"]["certificate"]["statement"].update(purpose="log"),
            lambda b: b["proof"].update(checkpoint="no note"),
            lambda b: b["decision"].update(id="42"),
        ]
        for number, change in enumerate(changes):
            with self.subTest(number):
                self.assert_failed(verify(self.changed(change)), "form")

    def test_the_limit_of_entries(self) -> None:
        scene = Scene()
        bundle = scene.bundle(entries=1)
        bundle["proof"]["entries"] *= 1025
        bundle["auditChain"] *= 1025
        self.assert_failed(verify(sign_bundle(bundle)), "form")

    def test_further_signatures_say_nothing(self) -> None:
        bundle = SCENE.bundle()
        bundle["signatures"]["customer"] = {"anything": [1]}
        self.assert_valid(verify(bundle))

    def test_white_space_and_other_spellings_do_not_matter(self) -> None:
        text = json.dumps(SCENE.bundle(), indent=3, ensure_ascii=True).replace('"v": 1', '"v": 1.0')
        self.assert_valid(verify_bundle(text.encode(), TRUST, NOW_MS, []))


class Signature(Case):
    def test_certificate(self) -> None:
        for wrong in [
            certificate(origin="other.example"),
            certificate(signed_by=OTHER_KEY),
            certificate(not_after=time(3599)),
            certificate(not_before=time(3601)),
            {**certificate(), "signature": certificate(not_after=time(7201))["signature"]},
            {**certificate(), "signedBy": b64(public(OTHER_KEY))},
        ]:
            self.assert_failed(verify(SCENE.bundle(certificate=wrong)), "certificate")
        self.assert_failed(verify(SCENE.bundle(bundle_key=OTHER_KEY)), "certificate")
        for edge in [certificate(not_after=time(3600)), certificate(not_before=time(3600))]:
            self.assert_valid(verify(SCENE.bundle(certificate=edge)))

    def test_signature(self) -> None:
        bundle = SCENE.bundle()
        bundle["bundleId"] = "bdl_2"
        self.assert_failed(verify(bundle), "signature")
        bundle = SCENE.bundle()
        bundle["signatures"]["service"]["algorithm"] = "Ed25519"
        self.assert_failed(verify(bundle), "signature")
        bundle["signatures"]["service"]["publicKey"] = b64(public(OTHER_KEY))
        self.assert_failed(verify(bundle), "certificate", "signature")

    def test_revoked_bundle_key(self) -> None:
        trust = read_trust(trust_file(revoked=[(BUNDLE_KEY, time(9000))]))
        anchors = read_anchors(anchor(time(90), SCENE.log.checkpoint()))
        self.assert_unknown(verify(SCENE.bundle(), trust, anchors), "revocation")

    def test_revoked_log_key(self) -> None:
        trust = read_trust(trust_file(revoked=[(LOG_KEY, time(200))]))
        self.assert_unknown(verify(SCENE.bundle(), trust), "revocation")
        for at, size, valid in [(199, -1, True), (200, -1, False), (90, 3, False)]:
            checkpoint = SCENE.log.checkpoint(size=size)
            report = verify(SCENE.bundle(), trust, read_anchors(anchor(time(at), checkpoint)))
            if valid:
                self.assert_valid(report)
            else:
                self.assert_unknown(report, "revocation")

    def test_a_revoked_key_stands_once(self) -> None:
        with self.assertRaises(Refused):
            read_trust(trust_file(revoked=[(LOG_KEY, time(200)), (LOG_KEY, time(100))]))


class Chain(Case):
    def test_segment(self) -> None:
        other = "sha256:" + "00" * 32
        changes: list[Callable[[Json], Any]] = [
            lambda b: b["auditChain"][0].update(hash=other),
            lambda b: b["auditChain"][-1].update(previousHash=other),
            lambda b: (b["auditChain"].pop(1), b["proof"]["entries"].pop(1)),
            lambda b: b["auditChain"].pop(0),
            lambda b: b["proof"]["entries"].pop(0),
            lambda b: (
                b["auditChain"].reverse(),
                b["auditChain"].reverse(),
                b["auditChain"][0].update(previousHash=other),
            ),
        ]
        for change in changes:
            self.assert_failed(verify(self.changed(change)), "segment")

    def log_with(self, spoil: Callable[[Json, int], None]) -> Json:
        """A bundle over a whole log in which the headers were spoiled before they were hashed."""
        scene = Scene(decided_by="policy")
        before = None
        for seq, entry in enumerate(scene.log.entries):
            header = entry["header"]
            if before is not None:
                header["prev"] = signer.header_digest(before)
            spoil(header, seq)
            entry["hash"] = signer.header_digest(header)
            before = header
        return scene.bundle(entries=scene.seq + 1)

    def test_links(self) -> None:
        def step(number: int, **members: Any) -> Callable[[Json, int], None]:
            def spoil(header: Json, seq: int) -> None:
                if seq == number:
                    header.update(members)

            return spoil

        self.assert_valid(verify(self.log_with(step(-1))))
        self.assert_failed(verify(self.log_with(step(3, ts=time(0)))), "segment")
        self.assert_failed(verify(self.log_with(step(3, seq=4))), "segment")
        self.assert_failed(verify(self.log_with(step(3, chain="acme/test"))), "segment")
        self.assert_failed(verify(self.log_with(step(3, prev="sha256:" + "00" * 32))), "segment")
        self.assert_failed(verify(self.log_with(step(0, prev="sha256:" + "00" * 32))), "segment")
        self.assert_failed(verify(self.log_with(step(0, type="policy.loaded"))), "segment")

    def test_openings(self) -> None:
        salt = b64(bytes(32))
        changes: list[Callable[[Json], Any]] = [
            lambda b: b["context"]["riskAssessment"].update(score=8),
            lambda b: b["proof"]["grounds"].update(extra=1),
            lambda b: b["proof"]["openings"].update(risk=salt),
        ]
        for change in changes:
            self.assert_failed(verify(self.changed(change)), "openings")
        self.assert_failed(
            verify(self.changed(lambda b: b["decision"].update(decision="deny"))),
            "openings",
            "approval",
        )
        self.assert_failed(
            verify(self.changed(lambda b: b["context"]["originalRequest"].update(action="x"))),
            "openings",
            "approval",
        )

    def test_the_entry_is_that_of_the_decision(self) -> None:
        self.assert_failed(verify(Scene(id="dec_43").bundle()), "openings")
        self.assert_failed(verify(Scene(id="xyz_42").bundle()), "openings")

    def test_the_four_commitments(self) -> None:
        for spoil in [
            lambda log: log.entries[-3]["sections"].pop("risk"),
            lambda log: log.entries[-3]["sections"].update(more={"salt": "", "value": 1}),
        ]:
            scene = Scene()
            kept = copy.deepcopy(scene.log.entries[-3])
            entries = scene.log.entries[: scene.seq]
            spoil(scene.log)
            values = {
                name: section["value"]
                for name, section in scene.log.entries[-3]["sections"].items()
            }
            scene.log.entries = entries
            scene.log.append("gate.decision", "aud_42", values, time(60))
            scene.log.entries[-1]["sections"] = kept["sections"]
            scene.log.append("policy.loaded", "aud_x", {"data": 1}, time(70))
            self.assert_failed(verify(scene.bundle()), "openings")

    def test_another_type(self) -> None:
        scene = Scene()
        values = {
            name: section["value"] for name, section in scene.log.entries[-3]["sections"].items()
        }
        scene.log.entries = scene.log.entries[: scene.seq]
        scene.log.append("gate.preview", "aud_42", values, time(60))
        self.assert_failed(verify(scene.bundle()), "openings")

    def test_what_is_redacted_is_not_there(self) -> None:
        def erase(b: Json, salt: bool, value: bool) -> None:
            b["proof"].update(redacted=["risk"])
            if salt:
                b["proof"]["openings"].pop("risk")
            if value:
                b["context"].update(riskAssessment={})

        for salt, value in [(False, False), (True, False), (False, True)]:
            bundle = self.changed(lambda b, salt=salt, value=value: erase(b, salt, value))
            self.assert_failed(verify(bundle), "openings")
        bundle = self.changed(lambda b: b["proof"]["openings"].pop("risk"))
        self.assert_failed(verify(bundle), "openings")
        bundle = self.changed(lambda b: b["proof"].update(redacted=["approval"]))
        self.assert_failed(verify(bundle), "approval")

    def test_redactions(self) -> None:
        for redacted in [["request"], ["risk"], ["approval"], ["approval", "risk", "request"]]:
            report = verify(SCENE.bundle(redacted=redacted))
            self.assert_valid(report)
            self.assertEqual(report.as_json()["redacted"], redacted)

    def test_checkpoint(self) -> None:
        log = SCENE.log
        other = signer.Log(chain="acme/test")
        other.entries = log.entries
        foreign = signer.Log(origin="other.example")
        foreign.entries = log.entries
        for checkpoint in [other.checkpoint(), log.checkpoint((OTHER_KEY,))]:
            self.assert_failed(verify(SCENE.bundle(checkpoint=checkpoint)), "checkpoint")
        self.assert_failed(verify(SCENE.bundle(checkpoint=foreign.checkpoint())), "checkpoint")
        bad = log.checkpoint() + other.checkpoint().split("\n")[4] + "\n"
        self.assert_failed(verify(SCENE.bundle(checkpoint=bad)), "checkpoint")

    def test_two_histories(self) -> None:
        bundle = SCENE.bundle()
        size = len(SCENE.log.entries)

        def root(of: int, fill: int) -> str:
            return f"{ORIGIN}/acme/live\n{of}\n{b64(bytes([fill]) * 32)}\n"

        for notes, fails in [
            ([signer.note(root(size, 1), [LOG_KEY])], True),
            ([signer.note(root(size, 1), [OTHER_KEY])], False),
            ([signer.note(root(3, 1), [LOG_KEY])], False),
            ([signer.note(root(3, 1), [LOG_KEY]), signer.note(root(3, 2), [LOG_KEY])], True),
            ([signer.note(root(3, 1), [LOG_KEY]), signer.note(root(3, 2), [OTHER_KEY])], False),
            ([signer.note(root(3, 1), [LOG_KEY])] * 2, False),
        ]:
            lines = b"".join(anchor(time(90), note) for note in notes)
            report = verify(bundle, anchors=read_anchors(lines))
            self.assertEqual(results(report), {"anchors": "failed"} if fails else {})

    def test_a_checkpoint_by_the_key_of_the_certificate_is_not_trusted(self) -> None:
        bundle = Scene(log_key=OTHER_KEY).bundle()
        self.assert_failed(verify(bundle), "certificate", "checkpoint")

    def test_inclusion(self) -> None:
        log = SCENE.log
        self.assert_failed(verify(SCENE.bundle(inclusion=log.inclusion(1))), "inclusion")
        self.assert_failed(
            verify(SCENE.bundle(inclusion=log.inclusion(SCENE.seq)[:-1])), "inclusion"
        )
        for size in (1, SCENE.seq):
            report = verify(SCENE.bundle(checkpoint=log.checkpoint(size=size)))
            self.assert_failed(report, "inclusion", "approval")
        scene = Scene(decided_by="policy")
        size_one = scene.log.checkpoint(size=1)
        self.assert_failed(verify(scene.bundle(checkpoint=size_one, inclusion=[])), "inclusion")


class Approval(Case):
    def test_other_grounds(self) -> None:
        scene = Scene(decided_by="policy")
        self.assert_valid(verify(scene.bundle()))
        approval = SCENE.bundle()["proof"]["approval"]
        self.assert_failed(verify(scene.bundle(approval=approval)), "approval")

    def test_what_was_merged(self) -> None:
        ann, bob = signer.vote("ann", 1), signer.vote("bob", 2)
        for replaced in [
            {"status": "pending"},
            {"status": None},
            {"votes": [ann]},
            {"votes": [ann, bob, ann]},
            {"votes": [bob, ann]},
            {"votes": [ann, {**ann, "entryId": "aud_apr2"}]},
            {"votes": [ann, {}]},
            {"votes": [ann, "bob"]},
            {"votes": [ann, {**bob, "principal": 1}]},
            {"votes": [ann, {**bob, "principal": "eve"}]},
            {"votes": [ann, {**bob, "keyId": "key_eve"}]},
            {"votes": [ann, {**bob, "keyId": None}]},
            {"votes": [ann, {**bob, "entryId": "aud_apr1"}]},
            {"votes": {"a": ann, "b": bob}},
            {"approvers": [["treasury"]]},
            {"approvers": [[]]},
            {"approvers": ["treasury"]},
            {"approvers": None},
            {"selfApproval": 0},
            {"requestedBy": "ann"},
            {"requestedByKey": "key_eve"},
            {"requestedByKey": "key_ann"},
            {"decidedAt": None},
            {"quorum": 3},
            {"quorum": 0},
            {"quorum": True},
            {"quorum": "2"},
            {"quorum": 1.5},
            {"digest": "sha256:" + "00" * 32},
            {"digest": None},
            {"unbound": []},
            {"unbound": None},
            {"unbound": ["context"]},
            {"unbound": signer.UNBOUND + ["context.amount"]},
            {"unbound": signer.UNBOUND + ["context.amount."]},
        ]:
            with self.subTest(repr(replaced)):
                scene = Scene(approval_changes(**replaced))
                self.assert_failed(verify(scene.bundle()), "approval")
        for replaced in [
            {"quorum": 1},
            {"approvers": []},
            {"unbound": signer.UNBOUND + ["plan.steps.0", "context.amount.x", "context.nothing"]},
        ]:
            with self.subTest(repr(replaced)):
                self.assert_valid(verify(Scene(approval_changes(**replaced)).bundle()))

    def test_keys(self) -> None:
        agent, ann, bob = signer.agent_key(), signer.key_data("ann"), signer.key_data("bob")
        for keys in [
            [],
            [agent, ann],
            [ann, bob],
            [ann, agent, bob],
            [agent, ann, bob, bob],
            [agent, ann, bob, signer.key_data("eve")],
            [agent, ann, signer.key_data("bob", roles=["agent", "operator"])],
            [agent, ann, signer.key_data("bob", roles="approver")],
            [agent, ann, signer.key_data("bob", groups=None)],
            [agent, ann, signer.key_data("bob", identity="eve")],
            [agent, ann, signer.key_data("bob", identity=None)],
            [agent, ann, signer.key_data("bob", id="key_bo")],
            [agent, ann, signer.key_data("bob", revision=2)],
            [agent, ann, signer.key_data("bob", revokedAt=time(1))],
            [agent, ann, signer.key_data("bob", expiresAt=time(30))],
            [agent, ann, signer.key_data("bob", expiresAt="soon")],
            [agent, ann, signer.key_data("bob", createdBy="key_agent")],
            [agent, ann, signer.key_data("bob", createdBy="key_ann")],
            [agent, ann, signer.key_data("bob", rotatedBy="key_ann")],
            [agent, ann, signer.key_data("bob", createdBy="key_eve")],
            [agent, ann, signer.key_data("bob", rotatedFrom=1)],
            [agent, ann, {**bob, "record": "tenant"}],
            [agent, ann, {**bob, "changes": []}],
        ]:
            with self.subTest(repr(keys[-1:])):
                self.assert_failed(verify(Scene(keys=keys).bundle()), "approval")
        for keys in [
            [agent, ann, signer.key_data("bob", roles=["agent", "owner"], expiresAt=time(31))],
            [agent, ann, signer.key_data("bob", rotatedFrom="key_agent")],
            [agent, ann, signer.key_data("bob", createdBy="key_boss"), signer.key_data("boss")],
        ]:
            with self.subTest(repr(keys[-1:])):
                self.assert_valid(verify(Scene(keys=keys).bundle()))
        late = Scene()
        late.keys[2] = late.log.append("key.created", "aud_late", {"data": bob}, time(90))
        self.assert_failed(verify(late.bundle()), "approval")

    def test_missing_keys(self) -> None:
        report = verify(SCENE.bundle(redacted=["keys"]))
        self.assertEqual((report.verdict, report.redacted), ("valid", ("keys",)))
        keys = SCENE.bundle()["proof"]["keys"]
        self.assert_failed(verify(SCENE.bundle(redacted=["keys"], keys=keys)), "approval")
        self.assert_failed(verify(SCENE.bundle(redacted=["approval", "keys"])), "approval")
        note = SCENE.log.checkpoint()
        self.assert_failed(verify(SCENE.bundle(beside=[note])), "approval")
        one = [signer.vote("ann", 1), {**signer.vote("ann", 1), "entryId": "aud_apr2"}]
        self.assert_failed(
            verify(Scene(approval_changes(votes=one)).bundle(redacted=["keys"])), "approval"
        )

    def test_keys_of_another_chain(self) -> None:
        system = signer.Log(chain="_system")
        admin = {**signer.key_data("bob", roles=["admin"]), "lengths": {signer.CHAIN: 1}}
        for lengths, is_good in [({signer.CHAIN: 1}, True), ({}, True), ({signer.CHAIN: 90}, False)]:
            system = signer.Log(chain="_system")
            data = {**admin, "lengths": lengths}
            seq = system.append("key.created", "aud_admin", {"data": data}, time(1))
            scene = Scene(keys=[signer.agent_key(), signer.key_data("ann")])
            proven = Scene.proven(scene, scene.keys[0]), Scene.proven(scene, scene.keys[1])
            scene.log, log = system, scene.log
            keys = [*proven, scene.proven(seq)]
            scene.log = log
            good = scene.bundle(keys=keys, beside=[system.checkpoint()])
            if is_good:
                self.assert_valid(verify(good))
            else:
                self.assert_failed(verify(good), "approval")
            for beside in [
                [],
                [system.checkpoint(), system.checkpoint()],
                [system.checkpoint((signer.OTHER_KEY,))],
                [scene.log.checkpoint()],
            ]:
                bundle = scene.bundle(keys=keys, beside=beside)
                self.assert_failed(verify(bundle), "approval")

    def test_absent_members(self) -> None:
        changes = approval_changes()
        request = {"action": "ping"}
        bound = {
            "action": "ping",
            "chain": signer.CHAIN,
            "context": {},
            "plan": None,
            "requester": "agent-1",
        }
        digest = signer.text_digest(b"gate-sidecar/approval/v1\n" + signer.jcs(bound))
        changes[0]["unbound"] = []
        self.assert_failed(verify(Scene(changes, request=request).bundle()), "approval")
        changes[0]["digest"] = digest
        self.assert_valid(verify(Scene(changes, request=request).bundle()))
        for wrong in [{}, {"action": 1}, {**request, "context": []}, {**request, "plan": []}]:
            self.assert_failed(verify(Scene(changes, request=wrong).bundle()), "approval")
        del changes[0]["unbound"]
        self.assert_failed(verify(Scene(changes, request=request).bundle()), "approval")

    def test_a_redacted_request_has_no_digest_to_check(self) -> None:
        scene = Scene(approval_changes(digest="sha256:" + "00" * 32))
        self.assert_valid(verify(scene.bundle(redacted=["request"])))

    def test_the_entries(self) -> None:
        other = "sha256:" + "00" * 32
        changes: list[Callable[[list[Json]], Any]] = [
            lambda a: a.clear(),
            lambda a: a.pop(0),
            lambda a: a.pop(),
            lambda a: a.reverse(),
            lambda a: a.insert(1, a[1]),
            lambda a: a[1]["data"].update(record="policy"),
            lambda a: a[1]["data"].update(id="apr_2"),
            lambda a: a[2]["data"]["changes"].update(votes=[]),
            lambda a: a[1].update(salt=b64(bytes(32))),
            lambda a: a[1].update(inclusion=a[0]["inclusion"]),
            lambda a: a[1]["header"].update(id="aud_x"),
            lambda a: a[1]["header"].update(prev=other),
        ]
        for number, change in enumerate(changes):
            with self.subTest(number):
                bundle = self.changed(lambda b: change(b["proof"]["approval"]))
                self.assert_failed(verify(bundle), "approval")

    def spoiled(self, kind: str, data: Any, sections: str = "data") -> Json:
        """A bundle with another last entry of the approval, which is in the log."""
        scene = Scene()
        seq = scene.approval[2]
        entries = scene.log.entries
        decision = {n: s["value"] for n, s in entries[scene.seq]["sections"].items()}
        scene.log.entries = entries[:seq]
        scene.log.append(kind, "aud_apr2", {sections: data}, time(30))
        scene.log.entries[-1]["sections"] = {"data": scene.log.entries[-1]["sections"][sections]}
        scene.seq = scene.log.append("gate.decision", "aud_42", decision, time(60))
        return scene.bundle()

    def test_records(self) -> None:
        changes = {"revision": 3, **approval_changes()[2]}
        good = {"record": "approval", "id": "apr_1", "changes": changes}
        self.assert_valid(verify(self.spoiled("approval.approved", good)))
        for kind, data, section in [
            ("approval.requested", good, "data"),
            ("approval.denied", good, "data"),
            ("approval.approved", {**good, "record": "quota"}, "data"),
            ("approval.approved", {**good, "id": "apr_2"}, "data"),
            ("approval.approved", {**good, "changes": []}, "data"),
            ("approval.approved", {**good, "changes": {**changes, "revision": 4}}, "data"),
            ("approval.approved", {"record": "approval", "id": "apr_1"}, "data"),
            ("approval.approved", good, "other"),
        ]:
            with self.subTest(kind=kind, data=repr(data)):
                self.assert_failed(verify(self.spoiled(kind, data, section)), "approval")

    def test_an_entry_of_another_chain(self) -> None:
        scene = Scene()
        entry = scene.log.entries[scene.approval[1]]
        entry["header"]["chain"] = "acme/test"
        entry["hash"] = signer.header_digest(entry["header"])
        self.assert_failed(verify(scene.bundle(entries=1)), "approval")

    def test_an_entry_after_the_decision(self) -> None:
        scene = Scene()
        late = {"record": "approval", "id": "apr_1", "changes": {}}
        scene.approval.append(
            scene.log.append("approval.approved", "aud_late", {"data": late}, time(90))
        )
        self.assert_failed(verify(scene.bundle()), "approval")


class Times(Case):
    def test_clock(self) -> None:
        exported = NOW_MS - 3600_000
        self.assert_valid(verify(SCENE.bundle(), now=exported - 300_000))
        self.assert_failed(verify(SCENE.bundle(), now=exported - 300_001), "times")

    def test_after_export(self) -> None:
        bundle = self.changed(lambda b: b.update(exportedAt=time(59)))
        self.assert_failed(verify(bundle), "times")
        self.assert_valid(verify(self.changed(lambda b: b.update(exportedAt=time(60)))))

    def test_timestamp_is_that_of_the_entry(self) -> None:
        self.assert_failed(verify(Scene(timestamp=time(61)).bundle()), "times")

    def test_until(self) -> None:
        for until, valid in [(60, True), (59, False)]:
            report = verify(SCENE.bundle(), read_trust(trust_file([(LOG_KEY, time(until))])))
            if valid:
                self.assert_valid(report)
            else:
                self.assert_failed(report, "times")

    def test_anchors(self) -> None:
        checkpoint = SCENE.log.checkpoint()
        report = verify(SCENE.bundle(), anchors=read_anchors(anchor(time(90), checkpoint)))
        self.assert_valid(report)
        self.assertEqual(report.assurance, "bracketed")
        early = b"2025-12-31T23:56:00.000Z"
        for data, failed in [(early, False), (b"2025-12-31T23:55:59.999Z", True)]:
            lines = anchor(time(90), checkpoint) + anchor(data.decode(), checkpoint)
            report = verify(SCENE.bundle(), anchors=read_anchors(lines))
            self.assert_failed(report, "times") if failed else self.assert_valid(report)

    def test_anchors_that_do_not_count(self) -> None:
        log = SCENE.log
        text = log.checkpoint()
        bad_signature = text + signer.Log().checkpoint().split("\n")[4] + "\n"
        for line in [
            anchor(time(90), log.checkpoint((OTHER_KEY,))),
            anchor(time(90), log.checkpoint(size=3)),
            anchor(time(90), bad_signature),
            anchor(time(90), text + "x"),
            anchor("yesterday", text),
            anchor(time(90), text).replace(b'"v": 1', b'"v": 2'),
            anchor(time(90), text).replace(b'"v": 1', b'"v": true'),
            anchor(time(90), text)[:-3],
            b"\xff\n" + b"[" * 5000 + b"\n{}\n[]\nnull\n\n",
        ]:
            report = verify(SCENE.bundle(), anchors=read_anchors(line))
            self.assertEqual((report.assurance, report.verdict), ("self-asserted", "valid"))
        cut = b'{"at":"20\n' + anchor(time(90), text) + b'{"at'
        self.assertEqual(verify(SCENE.bundle(), anchors=read_anchors(cut)).assurance, "bracketed")

    def test_ill_formed_times(self) -> None:
        wrong = "2026-02-30T00:00:00.000Z"
        self.assert_failed(verify(self.changed(lambda b: b.update(exportedAt=wrong))), "form")
        for member in ("not_before", "not_after"):
            bundle = SCENE.bundle(certificate=certificate(**{member: wrong}))
            self.assert_failed(verify(bundle), "form")
        bundle = SCENE.bundle(rotations=[rotation(OTHER_KEY, NEXT_LOG_KEY, at=wrong)])
        self.assert_failed(verify(bundle), "form")
        scene = Scene()
        scene.log.entries[scene.approval[1]]["header"]["ts"] = wrong
        self.assert_failed(verify(scene.bundle()), "form")


class WhoIsTrusted(Case):
    def keys(self, *keys: Any, **options: Any) -> Trust:
        return read_trust(trust_file(keys, **options))

    def test_unpinned(self) -> None:
        for trust in (Trust(), self.keys((LOG_KEY, None), origin="other.example")):
            report = verify(SCENE.bundle(), trust)
            self.assert_unknown(report, "certificate", "checkpoint")
            self.assertEqual(report_lines(report)[-1], "UNATTRIBUTED (no pinned key)")
            bundle = SCENE.bundle()
            bundle["bundleId"] = "x"
            report = verify(bundle, trust)
            self.assertEqual(report_lines(report)[-1], "INVALID")

    def test_unpinned_and_revoked(self) -> None:
        trust = read_trust(trust_file((), revoked=[(LOG_KEY, time(1))]))
        report = verify(SCENE.bundle(), trust)
        self.assert_unknown(report, "certificate", "checkpoint", "revocation")
        self.assertEqual(report_lines(report)[-1], "UNATTRIBUTED (no pinned key)")

    def test_unpinned_uses_the_keys_that_it_names(self) -> None:
        new_certificate = certificate(NEXT_LOG_KEY)
        named = SCENE.bundle(
            certificate=new_certificate, rotations=[rotation(LOG_KEY, NEXT_LOG_KEY)]
        )
        self.assert_unknown(verify(named, Trust()), "certificate", "checkpoint")
        bundle = SCENE.bundle(certificate=new_certificate)
        self.assertEqual(
            results(verify(bundle, Trust())), {"certificate": "unknown", "checkpoint": "failed"}
        )

    def test_rotation_forwards(self) -> None:
        steps = [rotation(NEXT_LOG_KEY, THIRD_LOG_KEY), rotation(LOG_KEY, NEXT_LOG_KEY)]
        for key, rotations in [(NEXT_LOG_KEY, steps[1:]), (THIRD_LOG_KEY, steps)]:
            bundle = Scene(log_key=key).bundle(rotations=rotations)
            self.assert_valid(verify(bundle))
        bundle = Scene(log_key=THIRD_LOG_KEY).bundle(rotations=steps[:1])
        self.assertEqual(
            results(verify(bundle)), {"certificate": "failed", "checkpoint": "failed"}
        )

    def test_rotation_backwards(self) -> None:
        trust = self.keys((NEXT_LOG_KEY, None))
        step = rotation(LOG_KEY, NEXT_LOG_KEY, at=time(60))
        self.assert_valid(verify(SCENE.bundle(rotations=[step]), trust))
        late = rotation(LOG_KEY, NEXT_LOG_KEY, at=time(59))
        self.assert_failed(verify(SCENE.bundle(rotations=[late]), trust), "times")

    def test_the_old_key_ends_with_the_rotation(self) -> None:
        step = rotation(LOG_KEY, NEXT_LOG_KEY, at=time(59))
        self.assert_failed(verify(SCENE.bundle(rotations=[step])), "times")

    def test_rotations_that_add_nothing(self) -> None:
        untrusted = {"certificate": "failed", "checkpoint": "failed"}
        scene = Scene(log_key=NEXT_LOG_KEY)
        good = rotation(LOG_KEY, NEXT_LOG_KEY)
        stranger = rotation(LOG_KEY, NEXT_LOG_KEY, at=time(1))
        for step, trust in [
            (rotation(LOG_KEY, NEXT_LOG_KEY, origin="other.example"), TRUST),
            (rotation(OTHER_KEY, NEXT_LOG_KEY), TRUST),
            ({**good, "signatures": {**good["signatures"], "from": b64(bytes(64))}}, TRUST),
            ({**good, "signatures": {**good["signatures"], "to": b64(bytes(64))}}, TRUST),
            ({**good, "signatures": stranger["signatures"]}, TRUST),
            (good, self.keys((LOG_KEY, time(5000)))),
            (good, self.keys((LOG_KEY, None), revoked=[(LOG_KEY, time(5000))])),
        ]:
            self.assertEqual(results(verify(scene.bundle(rotations=[step]), trust)), untrusted)
        trust = self.keys((NEXT_LOG_KEY, None), revoked=[(NEXT_LOG_KEY, time(5000))])
        self.assertEqual(results(verify(SCENE.bundle(rotations=[good]), trust)), untrusted)

    def test_a_key_vouches_once(self) -> None:
        steps = [rotation(LOG_KEY, NEXT_LOG_KEY), rotation(LOG_KEY, OTHER_KEY)]
        self.assert_valid(verify(Scene(log_key=NEXT_LOG_KEY).bundle(rotations=steps)))
        report = verify(Scene(log_key=OTHER_KEY).bundle(rotations=steps))
        self.assertEqual(results(report)["certificate"], "failed")

    def test_a_bad_rotation_does_not_stop_the_good_one(self) -> None:
        good = rotation(LOG_KEY, NEXT_LOG_KEY)
        bad = {**good, "signatures": {"from": b64(bytes(64)), "to": b64(bytes(64))}}
        for steps in ([bad, good], [good, bad]):
            self.assert_valid(verify(Scene(log_key=NEXT_LOG_KEY).bundle(rotations=steps)))

    def test_pinned_keys_keep_their_until(self) -> None:
        trust = self.keys((LOG_KEY, None), (NEXT_LOG_KEY, None))
        step = rotation(LOG_KEY, NEXT_LOG_KEY, at=time(59))
        self.assert_valid(verify(SCENE.bundle(rotations=[step]), trust))

    def test_two_trusted_signers(self) -> None:
        trust = self.keys((LOG_KEY, None), (NEXT_LOG_KEY, time(59)))
        for signers, failed in [
            ((LOG_KEY, NEXT_LOG_KEY), []),
            ((NEXT_LOG_KEY, LOG_KEY), ["times"]),
        ]:
            report = verify(SCENE.bundle(checkpoint=SCENE.log.checkpoint(signers)), trust)
            self.assertEqual(results(report), {check: "failed" for check in failed})

    def test_too_many_rotations(self) -> None:
        step = rotation(LOG_KEY, NEXT_LOG_KEY)
        self.assert_failed(verify(SCENE.bundle(rotations=[step, step])), "form")
        foreign = {**step, "statement": {**step["statement"], "origin": "other.example"}}
        steps = []
        for number in range(1025):
            statement = {**foreign["statement"], "at": time(number)}
            steps.append({**foreign, "statement": statement})
        self.assert_valid(verify(SCENE.bundle(rotations=steps[:1024])))
        self.assert_failed(verify(SCENE.bundle(rotations=steps)), "form")

    def test_trust_files(self) -> None:
        good = json.loads(trust_file([(LOG_KEY, time(1))], [(BUNDLE_KEY, time(2))]))
        self.assertEqual(len(read_trust(json.dumps(good).encode()).log_keys[ORIGIN]), 1)
        vkey = good["logKeys"][0]["vkey"]
        name, _, key = vkey.split("+", 2)
        weak = b"\1" + bytes([1]) + bytes(31)
        weak_id = signer.sha256(ORIGIN.encode() + b"\n" + weak).hex()[:8]
        entry = good["logKeys"][0]
        other_type = b64(b"\4" + public(LOG_KEY))
        for wrong in [
            {**good, "logKeys": [{**entry, "vkey": f"{name}+{vkey.split('+')[1]}+{other_type}"}]},
            {**good, "v": True},
            {**good, "more": 1},
            {**good, "logKeys": {}},
            {**good, "logKeys": [entry, entry]},
            {**good, "logKeys": [{"vkey": vkey}]},
            {**good, "logKeys": [{**entry, "until": "never"}]},
            {**good, "logKeys": [{**entry, "until": 0}]},
            {**good, "logKeys": [{**entry, "vkey": vkey[:-2]}]},
            {**good, "logKeys": [{**entry, "vkey": vkey.upper()}]},
            {**good, "logKeys": [{**entry, "vkey": f"{name}+00000000+{key}"}]},
            {**good, "logKeys": [{**entry, "vkey": f"other+{vkey.split('+', 1)[1]}"}]},
            {**good, "logKeys": [{**entry, "vkey": f"{ORIGIN}+{weak_id}+{b64(weak)}"}]},
            {**good, "logKeys": [{**entry, "vkey": 1}]},
            {**good, "revoked": [{"publicKey": b64(bytes(31)), "since": time(1)}]},
            {**good, "revoked": [{"publicKey": b64(bytes(32)), "since": None}]},
            {**good, "revoked": [1]},
        ]:
            with self.assertRaises(Refused, msg=repr(wrong)):
                read_trust(json.dumps(wrong).encode())


class Envelope(Case):
    def test_valid(self) -> None:
        for bundle in (SCENE.bundle(), SCENE.bundle(redacted=["request"])):
            self.assert_valid(verify(envelope(bundle)))

    def test_changed(self) -> None:
        good = envelope(SCENE.bundle())
        payload = base64.b64decode(good["payload"])
        other = envelope(SCENE.bundle(bundle_key=OTHER_KEY))["signatures"]
        for members in [
            {"payloadType": signer.EXPORT_TYPE},
            {"payload": b64(b" " + payload)},
            {"payload": b64(json.dumps(json.loads(payload)).encode())},
            {"payload": b64(signer.jcs(SCENE.bundle()))},
            {"payload": b64(b"[]")},
            {"payload": b64(b"{}")},
            {"payload": b64(b'{"proof":[]}')},
            {"payload": b64(b'{"proof":{}}')},
            {"payload": good["payload"][:-1]},
            {"payload": None},
            {"signatures": []},
            {"signatures": good["signatures"] * 2},
            {"signatures": other},
            {"signatures": [{**good["signatures"][0], "keyid": ""}]},
            {"signatures": [{**good["signatures"][0], "more": 1}]},
            {"signatures": [{**good["signatures"][0], "sig": "AAAA"}]},
            {"signatures": {}},
            {"more": 1},
        ]:
            self.assert_failed(verify({**good, **members}), "form")
        sig = [{**good["signatures"][0], "sig": other[0]["sig"]}]
        self.assert_failed(verify({**good, "signatures": sig}), "signature")
        changed = payload.replace(b"bdl_1", b"bdl_2")
        self.assert_failed(verify({**good, "payload": b64(changed)}), "signature")


class Request(Case):
    def test_the_request_is_not_changed(self) -> None:
        before = copy.deepcopy(REQUEST)
        self.assert_valid(verify(Scene().bundle()))
        self.assertEqual(REQUEST, before)


if __name__ == "__main__":
    unittest.main()
