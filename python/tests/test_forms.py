"""The simple forms: base64, times, names; and checkpoints."""

import base64
import unittest
from typing import Any, Callable

from gate_sidecar.verify import forms
from gate_sidecar.verify.approval import parse_path
from gate_sidecar.verify.forms import Refused
from gate_sidecar.verify.notes import find_signers, parse_note

from . import signer
from .signer import LOG_KEY, NEXT_LOG_KEY, ORIGIN, b64, public


class Case(unittest.TestCase):
    def refused(self, function: Callable[..., Any], *arguments: Any) -> None:
        with self.assertRaises(Refused, msg=repr(arguments)[:100]):
            function(*arguments)


class Forms(Case):
    def test_base64(self) -> None:
        self.assertEqual(forms.decode_base64("AAE=", "it"), b"\0\1")
        for text in ["AAE", "AAE==", "AAF=", "AA E=", "AAE=\n", "AA-_", "AAE=AAE=", "\u0661AA=", 1]:
            self.refused(forms.decode_base64, text, "it")
        self.refused(forms.decode_bytes, "AAE=", 3, "it")

    def test_times(self) -> None:
        self.assertEqual(forms.parse_time("1970-01-01T00:00:00.000Z", "it"), 0)
        self.assertEqual(forms.parse_time("2024-02-29T23:59:59.999Z", "it"), 1709251199999)
        self.assertEqual(forms.parse_time(signer.NOW, "it"), signer.NOW_MS)
        for text in [
            "0000-01-01T00:00:00.000Z",
            "1969-12-31T23:59:59.999Z",
            "10000-01-01T00:00:00.000Z",
            "2026-02-30T00:00:00.000Z",
            "2025-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:00:60.000Z",
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.000+00:00",
            "2026-01-01t00:00:00.000z",
            "2026-01-01T00:00:00.000Z\n",
            "\u0662026-01-01T00:00:00.000Z",
            "+02026-01-01T00:00:00.000Z",
            "",
            None,
            0,
        ]:
            self.refused(forms.parse_time, text, "it")

    def test_origins_and_chains(self) -> None:
        for name in ["a", "gate-1.example", "a" * 64]:
            forms.require_origin(name, "it")
        for name in ["", "a" * 65, "A", "a b", "a/b", "a\n", "a+b", None]:
            self.refused(forms.require_origin, name, "it")
        for name in ["_system", "acme/live", "acme/test"]:
            forms.require_chain(name, "it")
        for name in ["", "acme", "acme/prod", "/live", "a/b/live", "acme/live\n", "a b/live", 1]:
            self.refused(forms.require_chain, name, "it")

    def test_numbers(self) -> None:
        forms.require_count(0, "it")
        forms.require_count(2**53 - 1, "it")
        for number in [-1, 2**53, 0.5, True, False, "1", None]:
            self.refused(forms.require_count, number, "it")
        for number in [True, 1.5, "1", 0, 2, None]:
            self.refused(forms.require_one, number, "it")

    def test_digests(self) -> None:
        forms.require_digest("sha256:" + "0f" * 32, "it")
        for text in ["sha256:" + "0F" * 32, "0f" * 32, "sha256:" + "0f" * 31, None]:
            self.refused(forms.require_digest, text, "it")

    def test_paths(self) -> None:
        for path, names in [
            ("context.a", ["context", "a"]),
            ('plan["a b"].c_-9', ["plan", "a b", "c_-9"]),
            ('plan["\\"]\\u0041"]["x"]', ["plan", '"]A', "x"]),
        ]:
            self.assertEqual(parse_path(path), names)
        for path in [
            "context",
            "action.a",
            "contexts.a",
            "context.",
            "context.a b",
            "context..a",
            "context[a]",
            "context['a']",
            'context["a]',
            'context["\\x"]',
            'context["\\ud800"]',
            'context[ "a"]',
            "context.a\n",
            " context.a",
            "context.\u0661",
            "",
            None,
        ]:
            self.refused(parse_path, path)


class Notes(Case):
    def setUp(self) -> None:
        self.text = f"{ORIGIN}/acme/live\n7\n{b64(bytes(32))}\n"
        self.note = signer.note(self.text, [LOG_KEY])
        self.line = self.note.split("\n")[4] + "\n"

    def test_parse(self) -> None:
        note = parse_note(self.note)
        self.assertEqual((note.origin, note.chain), (ORIGIN, "acme/live"))
        self.assertEqual((note.size, note.root), (7, bytes(32)))
        self.assertEqual(find_signers(note, ORIGIN, [public(LOG_KEY)]), [public(LOG_KEY)])
        self.assertEqual(find_signers(note, ORIGIN, [public(NEXT_LOG_KEY)]), [])
        self.assertEqual(find_signers(note, "other", [public(LOG_KEY)]), [])

    def test_refused(self) -> None:
        head, body = self.text, self.note
        for text in [
            "",
            head,
            head + "\n",
            body[:-1],
            body + "\n",
            body + "x",
            body.replace("\n7\n", "\n07\n"),
            body.replace("\n7\n", "\n-7\n"),
            body.replace("\n7\n", "\n+7\n"),
            body.replace("\n7\n", "\n7\n7\n"),
            body.replace("\n7\n", "\n" + "9" * 17 + "\n"),
            body.replace("\n7\n", "\n9007199254740992\n"),
            body.replace("\n7\n", "\n\u0667\n"),
            body.replace("\n", "\r\n"),
            body.replace("\u2014", "-"),
            body.replace("\u2014 ", "\u2014  "),
            body.replace("AAAA=\n", "AAAA\n"),
            body.replace("AAA=\n", "AAB=\n"),
            head + "extension\n\n" + self.line,
            head + "\n" + self.line * 17,
            head + "\n" + "\u2014 a+b AAAAAAA=\n",
            head + "\n" + "\u2014 a\u00a0b AAAAAAA=\n",
            head + "\n" + "\u2014 a\x01b AAAAAAA=\n",
            head + "\n" + "\u2014 a AAAAAA==\n",
            head + "\n" + "\u2014 a b AAAAAAA=\n",
            body + "\u2014 " + "a" * 16384 + " AAAAAAA=\n",
        ]:
            self.refused(parse_note, text)

    def test_sixteen_lines(self) -> None:
        note = parse_note(self.text + "\n" + self.line * 16)
        self.assertEqual(len(note.signatures), 16)

    def test_other_lines_are_ignored_but_those_of_a_key_must_verify(self) -> None:
        stranger = f"\u2014 {ORIGIN} {b64(b'abcd' + bytes(64))}\n\u2014 x AAAAAAA=\n"
        note = parse_note(self.text + "\n" + stranger + self.line)
        self.assertEqual(find_signers(note, ORIGIN, [public(LOG_KEY)]), [public(LOG_KEY)])
        bad = b64(base64.b64decode(self.line.split(" ")[2])[:-1] + b"\1")
        note = parse_note(self.note + f"\u2014 {ORIGIN} {bad}\n")
        self.refused(find_signers, note, ORIGIN, [public(LOG_KEY)])


if __name__ == "__main__":
    unittest.main()
