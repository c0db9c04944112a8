"""Strict JSON and its canonical form, by public vectors and the refusals of the document."""

import base64
import json
import struct
import unittest

from gate_sidecar.verify.forms import Refused
from gate_sidecar.verify.strict_json import canonical, number_text, parse

from .vectors import VECTORS

# Documents that the JSON grammar accepts and "Notation" refuses.
REFUSED_BY_THE_DOCUMENT = {
    "y_object_duplicated_key.json",
    "y_object_duplicated_key_and_value.json",
    # Whole numbers beyond 2^53 - 1.
    "y_number.json",
    "y_number_real_capital_e.json",
    "y_number_real_exponent.json",
    "y_number_real_fraction_exponent.json",
    "y_object_extreme_numbers.json",
}
# Documents that the JSON grammar leaves to the parser, and "Notation" accepts: they underflow to 0.
ACCEPTED_BY_THE_DOCUMENT = {
    "i_number_double_huge_neg_exp.json",
    "i_number_real_underflow.json",
}


def accepts(data: bytes) -> bool:
    try:
        parse(data)
    except Refused:
        return False
    return True


class CanonicalVectors(unittest.TestCase):
    def test_documents(self) -> None:
        inputs = sorted((VECTORS / "jcs" / "input").iterdir())
        self.assertEqual(len(inputs), 6)
        for path in inputs:
            with self.subTest(path.name):
                expected = (VECTORS / "jcs" / "output" / path.name).read_bytes()
                self.assertEqual(canonical(json.loads(path.read_bytes())), expected)
                octets = (VECTORS / "jcs" / "outhex" / path.name).with_suffix(".txt")
                self.assertEqual(expected, bytes.fromhex(octets.read_text()))

    def test_numbers(self) -> None:
        lines = (VECTORS / "jcs" / "es6numbers_1000.txt").read_text().split()
        self.assertEqual(len(lines), 1000)
        for line in lines:
            bits, expected = line.split(",")
            number = struct.unpack(">d", bytes.fromhex(bits.zfill(16)))[0]
            self.assertEqual(number_text(number), expected)

    def test_numbers_of_the_document(self) -> None:
        for text, expected in [
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("5.0", "5"),
            ("1e2", "100"),
            ("-1.5e-9", "-1.5e-9"),
            ("9007199254740991", "9007199254740991"),
        ]:
            self.assertEqual(canonical(parse(text.encode())), expected.encode())

    def test_strings(self) -> None:
        value = parse(b'{"\\u20ac":"\\u000f\\u007f\\/\\"\\\\\\n","\\ud83d\\ude00":1,"\\ufb33":2}')
        expected = '{"\u20ac":"\\u000f\x7f/\\"\\\\\\n","\U0001f600":1,"\ufb33":2}'
        self.assertEqual(canonical(value), expected.encode())


class Parser(unittest.TestCase):
    def test_json_test_suite(self) -> None:
        seen = set()
        for line in (VECTORS / "json" / "jsontestsuite.jsonl").read_text().splitlines():
            case = json.loads(line)
            name, data = case["name"], base64.b64decode(case["b64"])
            with self.subTest(name):
                if case["expect"] == "accept":
                    self.assertEqual(accepts(data), name not in REFUSED_BY_THE_DOCUMENT)
                elif case["expect"] == "reject":
                    self.assertFalse(accepts(data))
                elif case["expect"] == "either":
                    self.assertEqual(accepts(data), name in ACCEPTED_BY_THE_DOCUMENT)
                else:
                    accepts(data)  # parsers differ: it must only not raise
            seen.add(name)
        self.assertEqual(len(seen), 340)
        self.assertLessEqual(REFUSED_BY_THE_DOCUMENT | ACCEPTED_BY_THE_DOCUMENT, seen)

    def test_naughty_strings_keep_their_text(self) -> None:
        for text in json.loads((VECTORS / "json" / "blns.json").read_text()):
            self.assertEqual(parse(canonical(text)), text)

    def test_refusals_of_the_document(self) -> None:
        for data in [
            b"\xff",
            b'"\xed\xa0\x80"',
            b"\xef\xbb\xbf{}",
            b'{"a":1,"a":1}',
            b'{"a":1,"\\u0061":2}',
            b'{"__proto__":1}',
            b'{"\\u005f_proto__":1}',
            b'"\\ud800"',
            b'{"\\udc00":1}',
            b'"\\ude00\\ud83d"',
            b"9007199254740992",
            b"-9007199254740992",
            b"1" * 100000,
            b"1e300",
            b"1e21",
            b"9007199254740992.0",
            b"1e400",
            b"-1e400",
            b"NaN",
            b"Infinity",
            b"-Infinity",
            b"{} {}",
            b"{},",
            b"{}\x00",
            b"",
            b"'a'",
            b'"\t"',
            b"[1,]",
            b"01",
            b"1.",
            b".5",
            b"+1",
        ]:
            self.assertFalse(accepts(data), data[:40])

    def test_reasons(self) -> None:
        for data, reason in [
            (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
            (b'{"a":1,"a":2}', "has a member twice"),
            (b'{"a":', r"is not JSON: Expecting value \(at character 5\)"),
            (b"{} x", r"is not JSON: Extra data \(at character 3\)"),
        ]:
            with self.assertRaisesRegex(Refused, reason):
                parse(data)

    def test_acceptance(self) -> None:
        for data in [b"9007199254740991", b"-9007199254740991", b" \r\n\t[ ] ", b"1e-300", b"0"]:
            self.assertTrue(accepts(data), data)
        self.assertEqual(parse(b'"\\ud83d\\ude00"'), "\U0001f600")

    def test_nesting(self) -> None:
        for opening, closing in [(b"[", b"]"), (b'{"a":', b"}")]:
            self.assertTrue(accepts(opening * 63 + b"[]" + closing * 63))
            self.assertFalse(accepts(opening * 64 + b"[]" + closing * 64))
            for depth in (500, 5000, 10**6):
                self.assertFalse(accepts(opening * depth + b"1" + closing * depth))
                self.assertFalse(accepts(opening * depth))

    def test_size(self) -> None:
        self.assertTrue(accepts(b" " * (64 * 1024 * 1024 - 1) + b"1"))
        self.assertFalse(accepts(b" " * (64 * 1024 * 1024) + b"1"))


if __name__ == "__main__":
    unittest.main()
