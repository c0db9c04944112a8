"""Types: they can be read at run time, and tell right from wrong."""

from __future__ import annotations

import json
import subprocess
import tempfile
import typing
import unittest
from pathlib import Path

import gate_sidecar
from gate_sidecar import client
from gate_sidecar.client import types

PYTHON = Path(gate_sidecar.__file__).parents[1]
PYRIGHT = PYTHON.parent / "integrations/node_modules/.bin/pyright"

GOOD = """
import asyncio
from typing import Any, Dict, List

from gate_sidecar.client import (
    ActionRefused, Approval, AsyncGateClient, CheckRequest, Decision, GateClient, GateError,
)

gate = GateClient(tenant_id="acme", api_key="x", mode="observe")
request: CheckRequest = {"action": "payment.transfer", "context": {"amount": 25}}
decision: Decision = gate.decide(request, wait=3)
word: str = decision["decision"]
number: int = gate.guard(request, lambda: 25)
still: bool = gate.permit(request).is_valid()
allowed: Decision = gate.permit(request).decision
decided: List[str] = [one["id"] for one in gate.decisions.list(limit=3)["data"]]
approvals: List[Approval] = gate.approvals.list(status="pending", limit=5)["data"]
gate.approvals.approve("apr_1", {"approver_id": "ann"})
gate.evidence.verify(gate.evidence.bundle("dec_1"))

@gate.guarded("payment.transfer", context=lambda to, amount: {"amount": amount})
def pay(to: str, amount: float) -> str:
    return to

paid: str = pay("DE02", 5)

@gate.session(user_request="x").guarded("pay")
def send(to: str) -> int:
    return 1

sent: int = send("DE02")

async def main() -> None:
    later = AsyncGateClient(tenant_id="acme", api_key="x")

    async def act() -> int:
        return 1

    async def read(args: Dict[str, Any]) -> int:
        return len(args["path"])

    one: int = await later.guard(request, act)
    size: int = await later.session(user_request="x").call("read", {"path": "x"}, read)
    two: str = await later.guard(request, lambda: "x")
    three: int = await later.session(user_request="x").guard("pay", {}, act)
    async for event in later.events():
        kind: str = event["eventType"]

try:
    asyncio.run(main())
except ActionRefused as refused:
    code: str = refused.error.code if refused.error is not None else ""
except GateError as error:
    status = error.status
"""
WRONG = [
    'GateClient(tenant_id="acme", api_key="x", mode="observed")',
    'GateClient("acme", "x")',
    'gate.decide({"context": {}})',
    'gate.decide({"action": "a.b", "contxt": {}})',
    'gate.decide({"action": "a.b"})["desicion"]',
    'text: str = gate.guard({"action": "a.b"}, lambda: 25)',
    'gate.approvals.list(status="open")',
    'gate.kill_switch.trigger({"level": "L9", "reason": "", "triggered_by": ""})',
    'pay("DE02", amount="much")',
    "send(5)",
    'gate.approvals.approve("apr_1", {"approverId": "ann"})',
    'gate.session(user_request="x").decide("pay", {}, wait="3")',
    'gate.session(user_request="x").permit("pay", {}, aproval_timeout=3)',
    'gate.session(user_request="x").call("pay", {}, lambda args: 1, approval_timeout="3")',
    'gate.session(user_request="x").guarded("pay", on_pending=3)',
]


class Types(unittest.TestCase):
    """Types as other programs see them."""

    def test_each_type_can_be_read_at_run_time(self) -> None:
        for name in types.__all__:
            declared = getattr(types, name)
            if isinstance(declared, type):
                typing.get_type_hints(declared)
        for of in (client.GateClient, client.AsyncGateClient, client.GateSession):
            for name, method in vars(of).items():
                if not name.startswith("_"):
                    typing.get_type_hints(method)

    def test_what_is_exported_is_there(self) -> None:
        for name in client.__all__:
            self.assertTrue(hasattr(client, name), name)

    def test_the_package_says_that_it_has_types(self) -> None:
        self.assertTrue((Path(gate_sidecar.__file__).parent / "py.typed").exists())

    @unittest.skipUnless(PYRIGHT.exists(), "npm --prefix integrations ci installs pyright")
    def test_right_and_wrong_programs_are_told_apart(self) -> None:
        self.assertEqual(self.faults(GOOD), set())
        lines = len(GOOD.splitlines())
        expected = set(range(lines + 1, lines + 1 + len(WRONG)))
        self.assertEqual(self.faults(GOOD + "\n".join(WRONG)), expected)

    def faults(self, program: str) -> set[int]:
        """Return the lines in which pyright finds an error, with the first as 1."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.py"
            path.write_text(program)
            options = {"extraPaths": [str(PYTHON)], "pythonVersion": "3.9"}
            (Path(folder) / "pyrightconfig.json").write_text(json.dumps(options))
            ran = subprocess.run(
                [str(PYRIGHT), "--outputjson", "--project", folder], capture_output=True, text=True
            )
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        found = json.loads(ran.stdout)["generalDiagnostics"]
        return {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"}
