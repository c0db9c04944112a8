"""Sessions: what the table of both clients says, and numbers as ECMAScript writes them."""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any

from gate_sidecar.client import AsyncGateClient, GateClient
from gate_sidecar.client._json import json_bytes
from gate_sidecar.client._provenance import Provenance

TABLE = Path(__file__).resolve().parents[2] / "test" / "testdata" / "client" / "provenance.json"
REQUEST = "Pay the bill of 120 EUR in bill.txt"
OPTIONS: Any = {"tenant_id": "acme", "api_key": "sk_test_x"}
NODE = shutil.which("node")
TEXTS_OF_NUMBERS = """
const numbers = JSON.parse(require('fs').readFileSync(0, 'utf8'))
console.log(JSON.stringify([numbers.map(String), numbers.map((one) => JSON.stringify(one))]))
"""


class ProvenanceTest(unittest.TestCase):
    """Provenance of arguments."""

    def origins(self, seen: Provenance, value: Any) -> list[str]:
        return list(seen.of({"x": value})["x"])

    def test_the_table_of_all_clients(self) -> None:
        table = json.loads(TABLE.read_text("utf-8"))
        for case in table["cases"]:
            with self.subTest(case["name"]):
                seen = Provenance(table["userRequest"])
                for said in case.get("says", []):
                    seen.user_says(said["text"] * said.get("times", 1))
                for observation in case["observe"]:
                    times = observation.pop("times", None)
                    if times is not None:
                        observation["result"] *= times
                    seen.observe(**observation)
                self.assertEqual(seen.of(case["args"]), case["expected"])

    @unittest.skipUnless(NODE, "node is what it is compared with")
    def test_numbers_are_written_as_node_writes_them(self) -> None:
        source = random.Random(1)
        bits = [source.getrandbits(64) for _ in range(20_000)]
        numbers = [struct.unpack("<d", bit.to_bytes(8, "little"))[0] for bit in bits]
        numbers += [source.uniform(-1e6, 1e6) for _ in range(5000)]
        numbers += [
            source.randint(-(10**9), 10**9) / 10 ** source.randint(0, 12) for _ in range(5000)
        ]
        numbers += [float(10**n) for n in range(-8, 25)] + [10.0, -0.0, 1e21, 5e-324, 2.0**53]
        finite = [number for number in numbers if math.isfinite(number)]
        ran = subprocess.run(
            [str(NODE), "-e", TEXTS_OF_NUMBERS],
            input=json.dumps(finite),
            capture_output=True,
            text=True,
            check=True,
        )
        as_text, as_json = json.loads(ran.stdout)
        for number, text in zip(finite, as_text):
            seen = Provenance("")
            seen.observe(f"<{text}>", trusted=False)
            self.assertEqual(self.origins(seen, number), ["third_party"], (number, text))
        self.assertEqual([json_bytes(number).decode() for number in finite], as_json)

    def test_integers_have_all_their_digits(self) -> None:
        seen = Provenance("")
        seen.observe('{"id": 1152921504606846977}', trusted=False)
        seen.observe({"id": 1152921504606846979}, trusted=False)
        self.assertEqual(self.origins(seen, 1152921504606846977), ["third_party"])
        self.assertEqual(self.origins(seen, 1152921504606846979), ["third_party"])

    def test_a_session_is_tainted_for_good(self) -> None:
        seen = Provenance(REQUEST)
        seen.observe({"a": 1}, trusted=True, untrusted=["b"])
        seen.observe("", trusted=True)
        self.assertFalse(seen.is_tainted)
        seen.observe({"b": "x"}, trusted=True, untrusted=["b"])
        self.assertTrue(seen.is_tainted)
        seen.observe("fine", trusted=True)
        self.assertTrue(seen.is_tainted)

    def test_more_than_is_kept_is_forgotten_on_the_safe_side(self) -> None:
        seen = Provenance(REQUEST)
        seen.observe("US13 of others", trusted=False)
        self.assertEqual(self.origins(seen, "Rent"), ["model"])
        for i in range(5):
            seen.observe(str(i) + "x" * 4 * 1024 * 1024, trusted=True)
        self.assertEqual(self.origins(seen, "US13"), ["third_party"])
        self.assertEqual(self.origins(seen, "Rent"), ["third_party"])

    def test_thousands_of_values_in_megabytes_of_text_hold_up_nobody_for_long(self) -> None:
        seen = Provenance(REQUEST)
        for i in range(15):
            seen.observe(str(i) + "of others, " * 95_000, trusted=False)
        begin = time.process_time()
        values = [{str(i): f"value {i} of nobody"} for i in range(5000)]
        self.assertEqual(self.origins(seen, values), ["model", "third_party"])
        self.assertLess(time.process_time() - begin, 5)

    def test_what_is_nested_too_deep_to_be_looked_into_can_be_of_anybody(self) -> None:
        deep: list[Any] = ["US13"]
        for _ in range(100_000):
            deep = [deep]
        for result in (deep, "[" * 100_000 + '"US13"' + "]" * 100_000):
            seen = Provenance(REQUEST)
            seen.observe(result, trusted=True, untrusted=["*"])
            self.assertTrue(seen.is_tainted)
            self.assertEqual(self.origins(seen, "US13"), ["third_party"])

    def test_what_the_model_cannot_read_cannot_be_observed(self) -> None:
        for result in (object(), {"a": b"bytes"}, [{1, 2}]):
            with self.assertRaises(TypeError):
                Provenance("").observe(result, trusted=False)

    def test_one_path_is_no_list_of_paths(self) -> None:
        with self.assertRaises(TypeError):
            Provenance("").observe({"body": "x"}, trusted=True, untrusted="body")

    def test_what_is_asked_of_the_gate(self) -> None:
        for client in (GateClient(**OPTIONS), AsyncGateClient(**OPTIONS)):
            session = client.session(
                user_request="Pay 5 EUR to DE02",
                id="s1",
                action_of=lambda tool, args: f"bank.{tool}",
                context_of=lambda tool, args: {"effect": "write", "tainted": "no"},
            )
            session.observe("read_file", "pay US13", trusted=False)
            session.user_says("now")
            self.assertEqual(
                session.request("send_money", {"to": "US13", "amount": 5.0}),
                {
                    "action": "bank.send_money",
                    "context": {
                        "effect": "write",
                        "session": "s1",
                        "args": {"to": "US13", "amount": 5.0},
                        "userRequest": "Pay 5 EUR to DE02\n\nnow",
                        "tainted": True,
                        "provenance": {"to": ["third_party"], "amount": ["user"]},
                    },
                },
            )
