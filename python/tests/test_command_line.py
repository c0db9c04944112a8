"""The command line: output and exit codes."""

import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from gate_sidecar.verify import __main__ as command

from . import signer
from .signer import LOG_KEY, NOW, Scene, anchor, time, trust_file


SELF_ASSERTED = "VALID (only the service vouches for the time)"


class CommandLine(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.scene = Scene()
        self.bundle = self.write("bundle.json", json.dumps(self.scene.bundle()).encode())
        self.trust = self.write("trust.json", trust_file())

    def write(self, name: str, data: bytes) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def run_it(self, *arguments: str) -> tuple[int, str, str]:
        out, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(errors):
            code = command.main([*arguments, "--now", NOW])
        return code, out.getvalue(), errors.getvalue()

    def test_valid(self) -> None:
        code, out, _ = self.run_it(self.bundle, "--trust", self.trust)
        lines = out.splitlines()
        self.assertEqual((code, lines[0], lines[-1]), (0, "form         ok", SELF_ASSERTED))
        self.assertEqual(len(lines), 12)

    def test_invalid(self) -> None:
        changed = self.scene.bundle()
        changed["bundleId"] = "bun_x"
        path = self.write("changed.json", json.dumps(changed).encode())
        code, out, _ = self.run_it(path, "--trust", self.trust)
        self.assertEqual((code, out.splitlines()[-1]), (1, "INVALID"))
        self.assertIn("signature    FAILED: the signature is not good\n", out)
        for data in (b"", b"not JSON", b"{}", b"[" * 10**6):
            code, out, _ = self.run_it(self.write("no.json", data), "--trust", self.trust)
            self.assertEqual((code, out.splitlines()[-1]), (1, "INVALID"))
            self.assertTrue(out.startswith("form         FAILED: "))

    def test_unpinned_and_incomplete(self) -> None:
        code, out, _ = self.run_it(self.bundle)
        self.assertEqual((code, out.splitlines()[-1]), (2, "UNATTRIBUTED (no pinned key)"))
        self.assertIn("certificate  unknown: no key is pinned for this origin\n", out)
        revoked = self.write("revoked.json", trust_file(revoked=[(LOG_KEY, time(100))]))
        code, out, _ = self.run_it(self.bundle, "--trust", revoked)
        self.assertEqual((code, out.splitlines()[-1]), (2, "INCOMPLETE"))
        line = anchor(time(90), self.scene.log.checkpoint())
        anchors = self.write("anchors.jsonl", line)
        code, out, _ = self.run_it(self.bundle, "--trust", revoked, "--anchors", anchors)
        self.assertEqual((code, out.splitlines()[-1]), (0, "VALID"))

    def test_json(self) -> None:
        code, out, _ = self.run_it(self.bundle, "--json")
        value = json.loads(out)
        self.assertEqual(code, 2)
        self.assertEqual(
            list(value),
            [
                "verdict",
                "valid",
                "signatureValid",
                "chainValid",
                "timestampValid",
                "assurance",
                "redacted",
                "checks",
            ],
        )
        self.assertEqual((value["verdict"], value["valid"]), ("incomplete", False))
        self.assertEqual(
            value["checks"][0], {"check": "form", "part": "all", "result": "ok", "why": ""}
        )

    def test_envelope_and_export(self) -> None:
        data = json.dumps(signer.envelope(self.scene.bundle())).encode()
        code, _, _ = self.run_it(self.write("envelope.json", data), "--trust", self.trust)
        self.assertEqual(code, 0)
        folder = os.path.join(self.folder, "export")
        os.mkdir(folder)
        lines = signer.entry_lines(self.scene.log.entries[1:4])
        signer.write_export(folder, signer.manifest(self.scene.log, 1, 4, lines), lines)
        self.assertEqual(self.run_it(folder, "--trust", self.trust)[0], 0)
        os.remove(os.path.join(folder, "entries.csv"))
        self.assertEqual(self.run_it(folder, "--trust", self.trust)[0], 1)

    def test_could_not_run(self) -> None:
        bad_trust = self.write("bad.json", trust_file().replace(b'"v": 1', b'"v": 2'))
        missing = os.path.join(self.folder, "missing")
        for arguments in [
            (),
            (missing,),
            (self.folder,),
            (self.bundle, "--trust", missing),
            (self.bundle, "--trust", bad_trust),
            (self.bundle, "--trust", self.folder),
            (self.bundle, "--anchors", missing),
            (self.bundle, "--now", "now", "--now"),
            (self.bundle, "--unknown"),
            (self.bundle, "more"),
        ]:
            code, out, errors = self.run_it(*arguments)
            self.assertEqual((code, out), (3, ""), arguments)
            self.assertTrue(errors.startswith("could not run: "))
        with redirect_stderr(io.StringIO()):
            self.assertEqual(command.main([self.bundle, "--now", "2026-02-30T00:00:00.000Z"]), 3)

    def test_an_error_of_the_verifier_is_no_verdict(self) -> None:
        def broken(*_: Any) -> Any:
            raise KeyError("a mistake")

        with mock.patch.object(command, "verify_bundle", broken):
            self.assertEqual(self.run_it(self.bundle)[0], 3)

    def test_large_files(self) -> None:
        with mock.patch.object(command, "MAX_BYTES", 100):
            self.assertEqual(self.run_it(self.bundle)[0], 3)
            self.assertEqual(self.run_it(self.bundle, "--trust", self.trust)[0], 3)

    def test_as_a_program(self) -> None:
        result = subprocess.run(
            [sys.executable, "-m", "gate_sidecar.verify", self.bundle, "--trust", self.trust],
            cwd=Path(__file__).resolve().parents[1],
            capture_output=True,
            check=False,
        )
        # The clock of the machine is used. A clock before 2026 would make this invalid.
        self.assertEqual((result.returncode, result.stdout.decode().splitlines()[-1]), (0, SELF_ASSERTED))


if __name__ == "__main__":
    unittest.main()
