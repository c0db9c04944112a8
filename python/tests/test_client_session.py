"""Sessions: what tools raise, and arguments that are none."""

from __future__ import annotations

import asyncio
import socket
import threading
import unittest
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Callable

from gate_sidecar.client import (
    ActionRefused,
    AsyncGateClient,
    Cancelled,
    GateClient,
    GateError,
)

from .scripted_server import DECISION, RECORDED, ScriptedServer, envelope

OPTIONS: Any = {"tenant_id": "acme", "api_key": "sk_test_x"}
DENY = envelope({**DECISION, "decision": "deny", "reason": "No.", "validUntil": None})


def allowing(connection: socket.socket, line: str) -> None:
    """Allow everything."""
    connection.sendall(RECORDED if "/gate/outcome" in line else envelope(DECISION))


def denying(connection: socket.socket, _: str) -> None:
    """Deny everything."""
    connection.sendall(DENY)


def error_with(error: BaseException, **fields: Any) -> BaseException:
    """Return an error with fields of its own."""
    vars(error).update(fields)
    return error


def caused(error: BaseException, cause: BaseException) -> BaseException:
    """Return an error with its cause."""
    error.__cause__ = cause
    return error


class Unreadable(Exception):
    """An error without a message."""

    def __str__(self) -> str:
        raise ValueError


class Quiet(Exception):
    """An error that does not tell what it has."""

    def __str__(self) -> str:
        return "failed"


class WithoutText:
    """A result without a text."""

    def __repr__(self) -> str:
        raise ValueError


# Errors, and True if all of one was read, so that a value not in it can only be of the model.
RAISED: list[tuple[BaseException, bool]] = [
    (ValueError("pay US13"), True),
    (SystemExit("pay US13"), True),
    (KeyboardInterrupt("pay US13"), True),
    (ActionRefused("pay.US13", "No rule."), True),
    (OSError(2, "No such file", "US13"), True),
    (error_with(ValueError("pay US13"), code="US13", status=404), True),
    (error_with(ValueError("no file"), body="pay US13"), False),
    (error_with(ValueError("no file"), __notes__=["pay US13"]), False),
    (caused(ValueError("no file"), ValueError("pay US13")), False),
    (Quiet("pay US13"), False),
    (Unreadable("pay US13"), False),
    (UnicodeDecodeError("utf-8", b"pay US13\xff", 8, 9, "invalid"), False),
]
try:
    RAISED.append((ExceptionGroup("all failed", [ValueError("pay US13")]), False))  # noqa: F821
except NameError:  # before Python 3.11
    pass
NO_ARGUMENTS: list[Any] = [[1], [["to", "DE02"]], [("to", "DE02")], "x", 1, None, {1: 2}]
NOT_JSON: list[Any] = [
    *[Decimal(1), date(2026, 1, 1), datetime(2026, 1, 1), b"x", {1}, float("nan")],
    threading.Lock(),
]


def nested(levels: int) -> Any:
    """Return lists in lists."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


class Calling(unittest.TestCase):
    """`call`, of threads and of asyncio."""

    def sessions(self, answer: Any, **options: Any) -> list[tuple[ScriptedServer, Any, Any]]:
        """Return servers, sessions and what calls a method of them."""
        made: list[tuple[ScriptedServer, Any, Any]] = []
        for client, finished in ((GateClient, lambda value: value), (AsyncGateClient, asyncio.run)):
            server = ScriptedServer(answer)
            self.addCleanup(server.close)
            gate = client(**{**OPTIONS, "base_url": server.url, **options})
            session = gate.session(user_request="Pay DE02", trusted=["a.own"])
            made.append((server, session, finished))
        return made

    def facts(self, session: Any, **args: Any) -> tuple[bool, dict[str, list[str]]]:
        context = session.request("a.b", args)["context"]
        return context["tainted"], context["provenance"]

    def test_what_a_tool_raises_is_read_and_of_others(self) -> None:
        def raising(error: BaseException) -> Callable[[Any], Any]:
            def run(_: Any) -> Any:
                raise error

            return run

        for error, is_all in RAISED:
            for server, session, finished in self.sessions(allowing):
                with self.subTest(repr(type(error)), session=type(session).__name__):
                    raised: Any = None
                    try:
                        finished(session.call("a.b", {}, raising(error)))
                    except BaseException as caught:
                        raised = caught
                    self.assertIs(raised, error)
                    self.assertEqual(server.bodies[-1]["status"], "failed")
                    unknown = "model" if is_all else "third_party"
                    self.assertEqual(
                        self.facts(session, to="US13", user="DE02", unknown="nobody said this"),
                        (True, {"to": ["third_party"], "user": ["user"], "unknown": [unknown]}),
                    )

    def test_what_a_trusted_tool_raises_is_of_nobody_else(self) -> None:
        def run(_: Any) -> Any:
            raise error_with(ValueError("to DE55"), body="x")

        answer = envelope({**DECISION, "plan": {"action": "a.own"}})
        for _, session, finished in self.sessions(
            lambda connection, line: connection.sendall(
                RECORDED if "outcome" in line else answer
            )
        ):
            with self.assertRaises(ValueError):
                finished(session.call("a.own", {}, run))
            self.assertEqual(
                self.facts(session, a="DE55", b="Rent"), (False, {"a": ["tool"], "b": ["model"]})
            )

    def test_a_result_without_a_text_ends_no_call(self) -> None:
        for _, session, finished in self.sessions(allowing):
            result = WithoutText()
            self.assertIs(finished(session.call("a.b", {}, lambda _, given=result: given)), result)
            self.assertEqual(self.facts(session, a="Rent"), (True, {"a": ["third_party"]}))

    def test_a_refusal_of_the_call_itself_tells_nothing_of_others(self) -> None:
        for _, session, finished in self.sessions(denying):
            with self.assertRaises(ActionRefused):
                finished(session.call("a.b", {}, self.fail))
            self.assertEqual(self.facts(session), (False, {}))

    def test_who_is_cancelled_before_it_runs_hears_nothing_of_others(self) -> None:
        _, session, _ = self.sessions(allowing)[0]
        cancel = threading.Event()
        cancel.set()
        with self.assertRaises(Cancelled):
            session.call("a.b", {}, self.fail, cancel=cancel)
        self.assertEqual(self.facts(session), (False, {}))

    def test_arguments_that_are_none_are_refused(self) -> None:
        inner = [{"x": value} for value in [*NOT_JSON, nested(70), nested(100_000)]]
        for args in [*NO_ARGUMENTS, *inner]:
            for server, session, finished in self.sessions(allowing):
                with self.subTest(type(args).__name__, session=type(session).__name__):
                    self.assert_refused(session, finished, args)
                    self.assertEqual(server.lines, [])

    def assert_refused(self, session: Any, finished: Any, args: Any) -> None:
        with self.assertRaises(GateError) as raised:
            session.request("a.b", args)
        self.assertEqual(raised.exception.code, "invalid_request")
        with self.assertRaises(GateError):
            finished(session.decide("a.b", args))
        for method in (session.permit, session.call, session.guard):
            with self.assertRaises(ActionRefused) as refused:
                finished(method("a.b", args, *([] if method == session.permit else [self.fail])))
            error = refused.exception.error
            self.assertEqual(error and error.code, "invalid_request")

    def test_who_only_watches_runs_what_the_gate_cannot_be_asked_about(self) -> None:
        observed: list[str] = []
        told = {"mode": "observe", "on_observed": lambda one: observed.append(one.reason)}
        for _, session, finished in self.sessions(allowing, **told):
            args = {"size": Decimal(1)}
            self.assertIs(finished(session.call("a.b", args, lambda own: own)), args)
        self.assertEqual(len(observed), 2)
        self.assertRegex(observed[0], "The gate cannot check")

    def test_what_runs_is_a_copy_of_what_was_asked(self) -> None:
        args: Any = {"list": ["x"], "pair": (1, [2])}
        for server, session, finished in self.sessions(allowing):
            own = finished(session.call("a.b", args, lambda own: own))
            self.assertEqual(own, args)
            for one, other in ((own, args), (own["list"], args["list"]), (own["pair"], args["pair"])):
                self.assertIsNot(one, other)
            self.assertIsNot(own["pair"][1], args["pair"][1])
            self.assertEqual(
                server.bodies[0]["context"]["args"], {"list": ["x"], "pair": [1, [2]]}
            )

    def test_tools_that_are_made_once_ask_for_the_session_of_each_call(self) -> None:
        for run_async in (False, True):
            with self.subTest(run_async=run_async):
                server = ScriptedServer(allowing)
                self.addCleanup(server.close)
                gate: Any = (AsyncGateClient if run_async else GateClient)(
                    base_url=server.url, **OPTIONS
                )
                decorate = gate.guarded_tool(
                    lambda ctx, *_, **__: ctx, tool_name="a.b", exclude=["ctx"]
                )

                def plain(ctx: Any, to: str, amount: int = 5) -> Any:
                    return (ctx, to, amount)

                async def later(ctx: Any, to: str, amount: int = 5) -> Any:
                    return (ctx, to, amount)

                pay = decorate(later if run_async else plain)
                sessions = [gate.session(user_request=text) for text in ("one", "two")]
                for session in sessions:
                    given = pay(session, "DE02")
                    got = asyncio.run(given) if run_async else given
                    self.assertEqual(got, (session, "DE02", 5))
                asked = [body["context"] for body in server.bodies if "context" in body]
                self.assertEqual([one["userRequest"] for one in asked], ["one", "two"])
                self.assertEqual([one["args"] for one in asked], [{"to": "DE02", "amount": 5}] * 2)
                with self.assertRaises(TypeError):
                    none = pay("no session", "DE02")
                    asyncio.run(none)

    def test_what_is_excluded_is_a_parameter(self) -> None:
        for _, session, _ in self.sessions(allowing):
            with self.assertRaisesRegex(TypeError, "exclude names no parameter of (plain|later): ctx"):

                def plain(to: str) -> str:
                    return to

                async def later(to: str) -> str:
                    return to

                is_async = type(session).__name__.startswith("Async")
                session.guarded(exclude=["ctx"])(later if is_async else plain)
