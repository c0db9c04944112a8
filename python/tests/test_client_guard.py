"""Actions that run or do not: the decorator, cancellation, options, values that are not JSON."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import pickle
import socket
import threading
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Awaitable, Callable, Iterator, Optional
from unittest import mock

from gate_sidecar.client import (
    ActionRefused,
    AsyncGateClient,
    CheckRequest,
    GateClient,
    GateError,
)

from gate_sidecar.client._json import json_bytes
from gate_sidecar.client._permit import _Clocks

from .scripted_server import (
    ALLOW,
    DECISION,
    HANGS,
    RECORDED,
    ScriptedServer,
    allowing,
    always,
    envelope,
)

REQUEST: Any = {"action": "a.b", "context": {}}
OPTIONS: Any = {"tenant_id": "acme", "api_key": "sk_test_x"}
DENY = envelope({**DECISION, "decision": "deny", "reason": "No.", "validUntil": None})


def denying(connection: socket.socket, _: str) -> None:
    """Deny everything."""
    connection.sendall(DENY)


class Guarding(unittest.TestCase):
    """Tests with a server that answers as they say."""

    def clients(
        self, answer: Any, **options: Any
    ) -> tuple[ScriptedServer, GateClient, AsyncGateClient]:
        server = ScriptedServer(answer)
        self.addCleanup(server.close)
        given = {**OPTIONS, "base_url": server.url, **options}
        return server, GateClient(**given), AsyncGateClient(**given)

    def contexts(self, server: ScriptedServer) -> list[Any]:
        return [body["context"] for body in server.bodies if "context" in body]

    def statuses(self, server: ScriptedServer) -> list[str]:
        return [body["status"] for body in server.bodies if "status" in body]


class Decorator(Guarding):
    """`guarded`."""

    def answer(self, connection: socket.socket, line: str) -> None:
        """Allow every action of the tests."""
        decision = {**DECISION, "plan": {"action": "payment.transfer"}}
        connection.sendall(RECORDED if "/gate/outcome" in line else envelope(decision))

    def test_the_arguments_are_the_context_by_their_names(self) -> None:
        server, gate, _ = self.clients(self.answer)

        @gate.guarded("payment.transfer")
        def pay(to: str, amount: float = 25, *notes: str, urgent: bool = False, **more: Any) -> str:
            """Pay somebody."""
            return f"{amount} to {to}"

        self.assertEqual(pay("DE02"), "25 to DE02")
        self.assertEqual(pay(amount=10.0, to="DE03", urgent=True, ref="x"), "10.0 to DE03")
        self.assertEqual(pay("DE04", 1, "a", "b"), "1 to DE04")
        self.assertEqual(
            self.contexts(server),
            [
                {"to": "DE02", "amount": 25, "notes": [], "urgent": False, "more": {}},
                {"to": "DE03", "amount": 10, "notes": [], "urgent": True, "more": {"ref": "x"}},
                {"to": "DE04", "amount": 1, "notes": ["a", "b"], "urgent": False, "more": {}},
            ],
        )
        self.assertEqual((pay.__name__, pay.__doc__), ("pay", "Pay somebody."))
        self.assertEqual(self.statuses(server), ["succeeded"] * 3)

    def test_a_function_can_say_what_the_context_is(self) -> None:
        server, gate, _ = self.clients(self.answer)

        @gate.guarded("payment.transfer", context=lambda to, amount: {"amount": amount})
        def pay(to: str, amount: float) -> None:
            pass

        pay("DE02", amount=5)
        self.assertEqual(self.contexts(server), [{"amount": 5}])

    def test_methods_are_asked_about_without_their_object(self) -> None:
        server, gate, _ = self.clients(self.answer)

        class Bank:
            @gate.guarded("payment.transfer")
            def pay(self, amount: int) -> int:
                return amount

            @classmethod
            @gate.guarded("payment.transfer")
            def refund(cls, amount: int) -> int:
                return amount

            @staticmethod
            @gate.guarded("payment.transfer")
            def check(amount: int) -> int:
                return amount

        self.assertEqual((Bank().pay(1), Bank.refund(2), Bank.check(3)), (1, 2, 3))
        self.assertEqual(self.contexts(server), [{"amount": n} for n in (1, 2, 3)])

    def test_coroutine_functions_stay_what_they_are(self) -> None:
        server, gate, async_gate = self.clients(self.answer)
        for one in (gate, async_gate):

            @one.guarded("payment.transfer")
            async def pay(amount: int) -> int:
                await asyncio.sleep(0)
                return amount

            self.assertTrue(inspect.iscoroutinefunction(pay))
            self.assertEqual(asyncio.run(pay(3)), 3)
        self.assertEqual(self.contexts(server), [{"amount": 3}] * 2)

    def test_what_is_denied_does_not_run(self) -> None:
        _, gate, async_gate = self.clients(denying)
        ran: list[int] = []

        @gate.guarded("a.b")
        def act() -> None:
            ran.append(1)

        @async_gate.guarded("a.b")
        async def act_later() -> None:
            ran.append(2)

        for attempt in (act, lambda: asyncio.run(act_later())):
            with self.assertRaises(ActionRefused) as raised:
                attempt()
            self.assertEqual(str(raised.exception), "a.b was not allowed: No.")
        self.assertEqual(ran, [])

    def test_an_allow_of_policies_that_are_only_observed_is_reported(self) -> None:
        reports: list[str] = []
        observing = envelope({**DECISION, "observed": "deny", "reason": "Not enforced: No."})

        def answer(connection: socket.socket, request: str) -> None:
            connection.sendall(RECORDED if "/outcome" in request.split("\r\n", 1)[0] else observing)

        _, client, later = self.clients(
            answer, on_observed=lambda observed: reports.append(f"{observed.action}: {observed.reason}")
        )
        self.assertEqual(client.guard(REQUEST, lambda: 5), 5)
        self.assertEqual(asyncio.run(later.guard(REQUEST, lambda: 6)), 6)
        self.assertEqual(reports, ["a.b: Not enforced: No."] * 2)

    def test_arguments_that_do_not_fit_or_have_no_json_ask_nobody_and_run_nothing(self) -> None:
        server, gate, _ = self.clients(self.answer)

        @gate.guarded("payment.transfer")
        def pay(amount: Any) -> None:
            self.fail("it ran")

        with self.assertRaises(TypeError):
            pay(1, 2)  # type: ignore[call-arg]
        for amount in (float("nan"), float("-inf"), Decimal(1), datetime(2026, 1, 1), {1: 2}, {1}):
            with self.assertRaises(ActionRefused) as raised:
                pay(amount)
            assert raised.exception.error is not None
            self.assertEqual(raised.exception.error.code, "invalid_request")
            self.assertRegex(raised.exception.error.details[0]["path"], "^/context/amount")
        self.assertEqual(server.lines, [])

    def test_what_runs_later_cannot_be_guarded(self) -> None:
        _, gate, async_gate = self.clients(allowing)

        def generate() -> Iterator[int]:
            yield 1

        async def generate_later() -> Any:
            yield 1

        for function in (generate, generate_later):
            with self.assertRaises(TypeError):
                gate.guarded("a.b")(function)
        with self.assertRaises(TypeError):
            async_gate.guarded("a.b")(lambda: None)


class SyncGuard(Guarding):
    """`GateClient.guard`."""

    def test_a_coroutine_is_not_taken_for_something_that_ran(self) -> None:
        server, gate, _ = self.clients(allowing)

        async def act() -> None:
            self.fail("it ran")

        with self.assertRaises(TypeError):
            _ = gate.guard(REQUEST, act)
        self.assertEqual(server.lines, [])
        with self.assertRaises(TypeError):
            _ = gate.guard(REQUEST, lambda: act())
        self.assertEqual(self.statuses(server), ["failed"])

    def test_whatever_a_function_raises_is_raised_and_on_record(self) -> None:
        class Unprintable(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        server, gate, _ = self.clients(allowing)
        for error in (
            StopIteration(1),
            KeyboardInterrupt(),
            SystemExit(3),
            Unprintable(),
            KeyError("x"),
        ):

            def act(error: BaseException = error) -> None:
                raise error

            with self.assertRaises(type(error)) as raised:
                gate.guard(REQUEST, act)
            self.assertIs(raised.exception, error)
        self.assertEqual(self.statuses(server), ["failed"] * 5)
        self.assertIn("KeyboardInterrupt", [body.get("error") for body in server.bodies])

    def test_threads_share_a_client(self) -> None:
        _, gate, _ = self.clients(allowing)
        ran: list[int] = []
        threads = [
            threading.Thread(target=gate.guard, args=(REQUEST, lambda n=n: ran.append(n)))
            for n in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(ran), list(range(20)))

    def test_within_an_event_loop_it_blocks_and_nothing_else(self) -> None:
        _, gate, _ = self.clients(allowing)

        async def act() -> str:
            return gate.guard(REQUEST, lambda: "ran")

        self.assertEqual(asyncio.run(act()), "ran")


class AsyncGuard(Guarding):
    """`AsyncGateClient.guard`, and its cancellation."""

    def run_cancelled(
        self,
        work: Awaitable[Any],
        is_due: Callable[[], Any],
        server: Optional[ScriptedServer] = None,
    ) -> None:
        """Cancel once that is due, and wait until it has ended.

        The server, if there is one, is rid of its connection.
        """

        async def due() -> None:
            while not is_due():
                await asyncio.sleep(0.01)

        async def run() -> None:
            task = asyncio.ensure_future(work)
            await asyncio.wait_for(due(), HANGS)
            task.cancel()
            # Not wait_for, which would cancel it again.
            await asyncio.wait([task], timeout=HANGS)
            self.assertTrue(task.cancelled())
            if server is not None:
                in_thread = asyncio.get_running_loop().run_in_executor
                self.assertTrue(await in_thread(None, server.gone.wait, HANGS))

        asyncio.run(run())

    def test_who_is_cancelled_while_it_asks_stops_at_once_and_runs_nothing(self) -> None:
        server = ScriptedServer(lambda connection, _: server.wait_until_gone(connection))
        self.addCleanup(server.close)
        gate = AsyncGateClient(**OPTIONS, base_url=server.url, timeout=1000)
        act: Any = gate.guard(REQUEST, lambda: self.fail("it ran"))
        self.run_cancelled(act, lambda: server.lines, server)

    def test_who_is_cancelled_while_people_decide_stops_at_once_and_runs_nothing(self) -> None:
        held = {**DECISION, "decision": "require_approval", "approvalId": "apr_1"}

        def answer(connection: socket.socket, line: str) -> None:
            connection.sendall(envelope({"status": "pending"} if "/approvals/" in line else held))

        server, _, gate = self.clients(answer)
        act: Any = gate.guard(REQUEST, lambda: self.fail("it ran"), approval_timeout=1000)
        self.run_cancelled(act, lambda: any("/approvals/" in line for line in server.lines))

    def test_who_is_cancelled_at_any_step_runs_nothing_or_all_and_it_is_on_record(self) -> None:
        """Cancels after each number of turns of the event loop."""

        async def run_for(turns: int, gate: AsyncGateClient, ran: list[int]) -> bool:
            task = asyncio.ensure_future(gate.guard(REQUEST, lambda: ran.append(turns)))
            for _ in range(turns):
                await asyncio.sleep(0.0005)
            is_cancelled = task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            return is_cancelled and not task.cancelled()

        swallowed = []
        for turns in range(0, 60, 2):
            server, _, gate = self.clients(allowing)
            ran: list[int] = []
            swallowed += [turns] if asyncio.run(run_for(turns, gate, ran)) else []
            if self.statuses(server):
                self.assertEqual(ran, [turns])
        self.assertEqual(swallowed, [])

    def test_an_action_that_is_cancelled_while_it_runs_is_on_record_as_failed(self) -> None:
        server, _, gate = self.clients(allowing)
        begun: list[int] = []

        async def act() -> None:
            begun.append(1)
            await asyncio.sleep(60)

        self.run_cancelled(gate.guard(REQUEST, act), lambda: begun)
        self.assertEqual(self.statuses(server), ["failed"])
        self.assertIn("CancelledError", server.bodies[-1]["error"])

    def test_many_wait_at_the_same_time(self) -> None:
        all_asked = threading.Barrier(50, timeout=HANGS)

        def answer(connection: socket.socket, line: str) -> None:
            all_asked.wait()
            connection.sendall(ALLOW)

        server = ScriptedServer(answer)
        self.addCleanup(server.close)
        gate = AsyncGateClient(**OPTIONS, base_url=server.url, timeout=1000)

        async def ask() -> list[Any]:
            return list(await asyncio.gather(*(gate.decide(REQUEST) for _ in range(50))))

        self.assertEqual(len(asyncio.run(ask())), 50)

    def test_a_client_can_be_used_in_one_loop_after_another(self) -> None:
        _, _, gate = self.clients(allowing)
        for _ in range(3):
            self.assertEqual(asyncio.run(gate.decide(REQUEST))["decision"], "allow")

    def test_events_are_told_until_they_are_stopped(self) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
        event = b'id: 1-1\ndata: {"id": "aud_1", "data": {}}\n\n'

        def answer(connection: socket.socket, _: str) -> None:
            connection.sendall(head + event)
            server.wait_until_gone(connection)

        server, _, gate = self.clients(answer)

        async def listen() -> list[Any]:
            heard: list[Any] = []
            has_heard = asyncio.Event()

            async def listener(event: Any) -> None:
                heard.append(event)
                has_heard.set()

            stop = gate.on_event(listener)
            await asyncio.wait_for(has_heard.wait(), HANGS)
            stop()
            await asyncio.sleep(0.1)
            return heard

        expected = [{"id": "aud_1", "data": {}, "position": "1-1"}]
        self.assertEqual(asyncio.run(listen()), expected)
        self.assertTrue(server.gone.wait(HANGS))

    def test_why_no_more_events_come_is_told(self) -> None:
        body = b'{"success": false, "error": "forbidden", "message": "Not you."}'
        answer = b"HTTP/1.1 403 No\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        _, gate, async_gate = self.clients(lambda connection, _: connection.sendall(answer))
        told: list[Any] = []
        has_told = threading.Event()

        def on_error(error: Exception) -> None:
            told.append(error)
            has_told.set()

        gate.on_event(lambda _: None, on_error=on_error)
        self.assertTrue(has_told.wait(HANGS))

        async def listen() -> None:
            async_gate.on_event(lambda _: None, on_error=on_error)
            while len(told) < 2:
                await asyncio.sleep(0.01)

        asyncio.run(asyncio.wait_for(listen(), HANGS))
        self.assertEqual([error.code for error in told], ["forbidden"] * 2)


class SessionDecorator(Guarding):
    """`guarded` of a session."""

    def answer(self, connection: socket.socket, line: str) -> None:
        """Allow each call of the tool."""
        decision = {**DECISION, "plan": {"action": "send_money"}}
        connection.sendall(RECORDED if "/gate/outcome" in line else envelope(decision))

    def test_a_call_of_the_function_is_a_call_of_the_session(self) -> None:
        server, gate, async_gate = self.clients(self.answer)
        session, later = (one.session(user_request="Pay DE02") for one in (gate, async_gate))
        notes = ["x"]

        class Bank:
            @session.guarded("send_money")
            def pay(self, to: str, *notes: Any, amount: int = 5) -> str:
                """Pay somebody."""
                notes[0].append("changed")
                return f"US13 got it, not {to}"

        @later.guarded()
        async def send_money(to: str) -> str:
            raise RuntimeError("US13 is closed")

        self.assertEqual(Bank().pay("DE02", notes), "US13 got it, not DE02")
        with self.assertRaises(RuntimeError):
            asyncio.run(send_money("DE02"))
        self.assertEqual((notes, Bank.pay.__doc__), (["x"], "Pay somebody."))
        given = [context["args"] for context in self.contexts(server)]
        self.assertEqual(given, [{"to": "DE02", "notes": [["x"]], "amount": 5}, {"to": "DE02"}])
        self.assertEqual(self.contexts(server)[0]["provenance"]["to"], ["user"])
        for one in (session, later):
            context: Any = one.request("next", {"to": "US13"})["context"]
            self.assertEqual(context["provenance"], {"to": ["third_party"]})

    def test_what_is_denied_does_not_run(self) -> None:
        _, gate, _ = self.clients(denying)

        @gate.session(user_request="").guarded()
        def act() -> None:
            self.fail("it ran")

        with self.assertRaises(ActionRefused):
            act()

    def test_what_cannot_be_guarded_is_told_at_once(self) -> None:
        def one() -> Iterator[int]:
            yield 1

        async def other() -> None:
            pass

        _, gate, async_gate = self.clients(denying)
        session, later = gate.session(user_request=""), async_gate.session(user_request="")
        for decorate, function in (
            (session.guarded(), one),
            (later.guarded(), one),
            (session.guarded(), other),
            (later.guarded(), lambda: None),
        ):
            with self.assertRaises(TypeError):
                decorate(function)


class Validity(Guarding):
    """Time for which an allow is valid."""

    def test_an_allow_is_over_when_either_clock_says_so(self) -> None:
        cases = {
            "none has passed": (0, 0, True),
            "so long": (61, 61, False),
            "so long, and somebody set the clock back": (61, -3600, False),
            "so long, which the machine slept": (1, 61, False),
            "less, and somebody set the clock back": (59, -3600, True),
            "less": (59, 59, True),
        }
        _, gate, _ = self.clients(allowing)
        for name, (passed, shown, expected) in cases.items():
            with self.subTest(name):
                permit = gate.permit(REQUEST)
                asked = permit._asked
                later = _Clocks(asked.monotonic + passed, asked.wall + shown)
                with mock.patch.object(_Clocks, "now", return_value=later):
                    self.assertEqual(permit.is_valid(), expected)


    def test_an_allow_is_no_longer_than_what_is_left_by_the_clock_of_the_service(self) -> None:
        cases = {
            "Thu, 01 Jan 2026 00:00:00 GMT": 59,
            "Thu, 01 Jan 2026 00:00:30 GMT": 29,
            "Thu, 01 Jan 2026 00:00:59 GMT": 0,
            "Wed, 31 Dec 2025 23:00:00 GMT": 60,
            "today": 0,
        }
        for date, left in cases.items():
            with self.subTest(date):
                dated = ALLOW.replace(b"\r\n", b"\r\ndate: %s\r\n" % date.encode(), 1)
                _, gate, _ = self.clients(always(dated))
                self.assertEqual(gate.permit(REQUEST)._seconds, left)


class Options(unittest.TestCase):
    """Options of a client, and properties of its values."""

    def test_options_that_cannot_be_used_make_no_client(self) -> None:
        wrong: list[dict[str, Any]] = [
            {"tenant_id": ""},
            {"api_key": ""},
            {"api_key": None},
            {"api_key": "sk_live_x\r\nx: y"},
            {"api_key": "schl\u00fcssel"},
            {"base_url": "gate.example.com"},
            {"base_url": "ftp://gate.example.com"},
            {"base_url": "http://"},
            {"base_url": "http://user:secret@gate"},
            {"base_url": "http://gate/?x=y"},
            {"base_url": "http://gate/\r\nx: y"},
            {"timeout": 0},
            {"timeout": -1},
            {"timeout": float("nan")},
            {"timeout": "30"},
            {"timeout": None},
            {"retries": float("nan")},
            {"retries": -1},
            {"mode": "Enforce"},
            {"mode": ""},
            {"mode": None},
        ]
        for client in (GateClient, AsyncGateClient):
            for options in wrong:
                with self.subTest(client.__name__, **options), self.assertRaises(ValueError):
                    client(**{**OPTIONS, **options})

    def test_a_key_is_not_shown(self) -> None:
        for client in (GateClient, AsyncGateClient):
            gate = client(tenant_id="acme", api_key="sk_live_secret")
            self.assertNotIn("secret", f"{gate!r} {gate._service!r}")

    def test_members_of_requests_have_names_of_python_and_keys_of_a_context_stay(self) -> None:
        server = ScriptedServer(allowing)
        self.addCleanup(server.close)
        context = {"user_id": 1, "args": {"pay_to": "DE02"}, "userRequest": "Pay"}
        request: CheckRequest = {"action": "a.b", "approval_id": "apr_1", "context": context}
        GateClient(**OPTIONS, base_url=server.url).decide(request)
        sent = {"tenantId": "acme", "action": "a.b", "approvalId": "apr_1", "context": context}
        self.assertEqual(server.bodies, [sent])

    def test_a_time_is_sent_as_every_client_writes_it(self) -> None:
        east = timezone(timedelta(hours=2, minutes=30))
        cases = {
            "1970-01-01T00:00:00.005Z": datetime(1970, 1, 1, 0, 0, 0, 5000, timezone.utc),
            "2025-12-31T21:30:00.000Z": datetime(2026, 1, 1, tzinfo=east),
            "2026-01-01T00:00:00.999Z": datetime(2026, 1, 1, 0, 0, 0, 999_999, timezone.utc),
        }
        for text, time in cases.items():
            with self.subTest(text):
                self.assertEqual(json_bytes({"due": time}), b'{"due":"%s"}' % text.encode())
                session = GateClient(**OPTIONS).session(user_request="")
                session.observe("read", {"due": time})
                asked = session.request("pay", {"due": time, "text": text})["context"]
                self.assertEqual(
                    asked["provenance"], {"due": ["third_party"], "text": ["third_party"]}
                )

    def test_errors_can_be_sent_to_another_process(self) -> None:
        error = GateError("rate_limited", "Later.", status=429, retry_after=3)
        decision: Any = DECISION
        refused = ActionRefused("a.b", "No.", decision, error)
        again = pickle.loads(pickle.dumps(refused))
        self.assertEqual(str(again), "a.b was not allowed: No.")
        self.assertEqual((again.decision, again.error.code), (DECISION, "rate_limited"))
        self.assertEqual((again.error.status, again.error.retry_after), (429, 3))


class Times(Guarding):
    """Seconds that are none, and more of them than timers take."""

    def test_a_time_that_is_no_number_is_a_mistake_before_anything_is_sent(self) -> None:
        for wrong in (float("nan"), "60", None):
            server, gate, async_gate = self.clients(allowing)
            for client, finished in ((gate, lambda value: value), (async_gate, asyncio.run)):
                given: Any = client
                calls: list[Any] = [
                    lambda: given.decide(REQUEST, wait=wrong),
                    lambda: given.permit(REQUEST, approval_timeout=wrong),
                    lambda: given.guard(REQUEST, self.fail, approval_timeout=wrong),
                ]
                if wrong is not None:
                    calls.append(lambda: given.wait_for_approval("apr_1", timeout=wrong))
                for call in calls:
                    with self.subTest(wrong), self.assertRaises(ValueError):
                        finished(call())
                with self.assertRaises(ValueError):
                    given.guarded("a.b", approval_timeout=wrong)
            self.assertEqual(server.lines, [])

    def test_longer_than_timers_take_is_as_long_as_they_take(self) -> None:
        held = {**DECISION, "decision": "require_approval", "approvalId": "apr_1"}

        def answer(connection: socket.socket, line: str) -> None:
            if "/approvals/" in line:
                connection.sendall(envelope({"status": "approved"}))
            else:
                is_first = len(server.lines) % 3 == 1
                connection.sendall(envelope(held) if is_first else ALLOW)

        for timeout in (3_000_000.0, 1e18, float("inf"), 10**400):
            server, gate, async_gate = self.clients(answer, timeout=timeout)
            permits = (
                gate.permit(REQUEST, approval_timeout=timeout),
                asyncio.run(async_gate.permit(REQUEST, approval_timeout=timeout)),
            )
            for permit in permits:
                self.assertEqual(permit.decision["decision"], "allow")

    def test_less_than_nothing_is_nothing(self) -> None:
        held = envelope({**DECISION, "decision": "require_approval", "approvalId": "apr_1"})
        _, gate, _ = self.clients(lambda connection, _: connection.sendall(held))
        self.assertEqual(gate.decide(REQUEST, wait=-5)["decisionId"], "dec_1")
        with self.assertRaises(ActionRefused) as refused:
            gate.permit(REQUEST, approval_timeout=-5)
        self.assertEqual(
            refused.exception.reason,
            "Fine. People have to approve it first (apr_1). "
            "Once they have, call the tool again with the same arguments.",
        )
