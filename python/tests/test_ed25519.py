"""Ed25519 by Wycheproof, by the cases on which verifiers differ, and by its own limits."""

import hashlib
import json
import unittest

from gate_sidecar.verify import ed25519

from . import signer
from .vectors import VECTORS


class Vectors(unittest.TestCase):
    def test_wycheproof(self) -> None:
        suite = json.loads((VECTORS / "ed25519" / "wycheproof_ed25519_test.json").read_text())
        results = {"valid": 0, "invalid": 0}
        for group in suite["testGroups"]:
            key = bytes.fromhex(group["publicKey"]["pk"])
            for test in group["tests"]:
                message, signature = bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"])
                good = ed25519.verify(key, message, signature)
                self.assertEqual(good, test["result"] == "valid", test["tcId"])
                results[test["result"]] += 1
        self.assertEqual(results, {"valid": 88, "invalid": 63})

    def test_all_cases_of_speccheck_are_refused(self) -> None:
        cases = json.loads((VECTORS / "ed25519" / "speccheck_cases.json").read_text())
        self.assertEqual(len(cases), 12)
        for number, case in enumerate(cases):
            key, message, signature = (
                bytes.fromhex(case[name]) for name in ("pub_key", "message", "signature")
            )
            self.assertFalse(ed25519.verify(key, message, signature), number)


class Strictness(unittest.TestCase):
    def test_own_signatures(self) -> None:
        key, signature = signer.public(signer.LOG_KEY), signer.sign(signer.LOG_KEY, b"text")
        self.assertTrue(ed25519.verify(key, b"text", signature))
        self.assertFalse(ed25519.verify(key, b"texT", signature))
        self.assertFalse(ed25519.verify(signer.public(signer.OTHER_KEY), b"text", signature))
        self.assertFalse(ed25519.verify(key, b"text", signature + b"\0"))
        self.assertFalse(ed25519.verify(key + b"\0", b"text", signature))
        self.assertFalse(ed25519.verify(b"", b"", b""))

    def test_s_plus_l_is_refused(self) -> None:
        key, signature = signer.public(signer.LOG_KEY), signer.sign(signer.LOG_KEY, b"text")
        s = int.from_bytes(signature[32:], "little") + ed25519.L
        other = signature[:32] + s.to_bytes(32, "little")
        self.assertFalse(ed25519.verify(key, b"text", other))

    def test_keys_of_small_order_are_refused(self) -> None:
        p = ed25519.P
        for y in (0, 1, p - 1, p, p + 1):
            for sign in (0, 1 << 255):
                self.assertFalse(ed25519.is_good_key((y | sign).to_bytes(32, "little")))

    def test_a_key_with_a_component_of_small_order_is_refused(self) -> None:
        point = ed25519.decode(signer.public(signer.LOG_KEY))
        assert point is not None
        order_two: ed25519.Point = (0, ed25519.P - 1, 1, 0)
        mixed = ed25519.encode(ed25519.add(point, order_two))
        self.assertIsNotNone(ed25519.decode(mixed))
        self.assertFalse(ed25519.is_good_key(mixed))

    def test_keys_of_other_lengths_are_refused(self) -> None:
        key = signer.public(signer.LOG_KEY)
        self.assertTrue(ed25519.is_good_key(key))
        for other in (b"", key[:-1], key + bytes(1)):
            self.assertFalse(ed25519.is_good_key(other))

    def test_a_neutral_r_is_refused(self) -> None:
        # R = 0*B, so S = k*a: the equation holds, but R has the order 1.
        scalar, _ = signer._expand(signer.LOG_KEY)
        key, r = signer.public(signer.LOG_KEY), ed25519.encode(ed25519.NEUTRAL)
        k = int.from_bytes(hashlib.sha512(r + key + b"text").digest(), "little")
        signature = r + (k * scalar % ed25519.L).to_bytes(32, "little")
        self.assertFalse(ed25519.verify(key, b"text", signature))


if __name__ == "__main__":
    unittest.main()
