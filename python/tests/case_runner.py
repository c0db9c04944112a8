"""Makes the calls of test/client/cases.ts with a client of this package.

`python3 -m tests.case_runner` reads a call as JSON from each line of standard input, and writes its
result to a line of standard output. With `asyncio` as its argument it takes `AsyncGateClient`.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from gate_sidecar.client import ActionRefused, AsyncGateClient, GateClient, GateError


def snake(name: str) -> str:
    """Return a name in the manner of Python; `from` is a word of the language."""
    return "from_" if name == "from" else re.sub("[A-Z]", lambda m: "_" + m[0].lower(), name)


def snakes(members: dict[str, Any]) -> dict[str, Any]:
    """Return members by names in the manner of Python."""
    return {snake(name): value for name, value in members.items()}


def seconds(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with times in seconds, which the table has in milliseconds."""
    times = ("timeout", "approvalTimeout")
    return snakes({k: v / 1000 if k in times else v for k, v in options.items()})


class Runner:
    """One call of a new client, and what it did."""

    def __init__(self, is_async: bool, options: dict[str, Any]) -> None:
        self.is_async = is_async
        self.done: dict[str, Any] = {"ran": 0, "observed": [], "unrecorded": 0}
        self.options = options
        self.gate: Any = None

    def count_unrecorded(self, decision_id: str, error: GateError) -> None:
        self.done["unrecorded"] += 1

    async def run(self, call: str, given: dict[str, Any]) -> dict[str, Any]:
        try:
            self.gate = (AsyncGateClient if self.is_async else GateClient)(
                **seconds(self.options),
                on_observed=lambda one: self.done["observed"].append(f"{one.action}: {one.reason}"),
                on_unrecorded=self.count_unrecorded,
            )
            method = getattr(self, "do_" + snake(call).replace(".", "_"), None)
            value = self.do_endpoint(call, given) if method is None else method(**snakes(given))
            self.done["value"] = await value if inspect.isawaitable(value) else value
        except Exception as error:
            self.done["error"] = told(error)
        return self.done

    def do_decide(self, wait: float = 0, explain: bool = False, **request: Any) -> Any:
        return self.gate.decide(request, wait=wait / 1000, explain=explain)

    async def do_decide_in_turns(self, request: Any, turns: list[Any]) -> Any:
        results: list[list[str]] = []
        for turn in turns:
            await asyncio.sleep(turn["afterMs"] / 1000)
            calls = range(turn["calls"])
            if self.is_async:
                decided = await asyncio.gather(*(self.decided_later(request) for _ in calls))
            else:
                decided = self.decided_at_once(request, len(calls))
            results.append(sorted(decided))
        return results

    def decided_at_once(self, request: Any, count: int) -> list[str]:
        # None is answered before all have begun, however slowly threads start.
        begun = Barrier(count)

        def decided(_: int) -> str:
            begun.wait()
            return self.decided(request)

        with ThreadPoolExecutor(max_workers=count) as threads:
            return list(threads.map(decided, range(count)))

    def decided(self, request: Any) -> str:
        try:
            return str(self.gate.decide(request)["decision"])
        except GateError as error:
            return error.code

    async def decided_later(self, request: Any) -> str:
        try:
            return str((await self.gate.decide(request))["decision"])
        except GateError as error:
            return error.code

    def do_guard(
        self, request: Any, returns: Any = None, throws: Any = None, **options: Any
    ) -> Any:
        def act() -> Any:
            self.done["ran"] += 1
            if throws is not None:
                raise RuntimeError(throws)
            return returns

        async def act_later() -> Any:
            await asyncio.sleep(0)
            return act()

        run = act_later if self.is_async else act
        return self.gate.guard(request, run, **self.waiting(options))

    async def do_guard_twice(self, **given: Any) -> Any:
        if self.is_async:
            return await asyncio.gather(self.do_guard(**given), self.do_guard(**given))
        with ThreadPoolExecutor() as threads:
            both = [threads.submit(self.do_guard, **given) for _ in range(2)]
            return [one.result() for one in both]

    async def do_permit(self, request: Any, **options: Any) -> Any:
        pending: list[Any] = []
        permit = self.gate.permit(request, on_pending=pending.append, **self.waiting(options))
        if self.is_async:
            permit = await permit
        return {**told_permit(permit), "pending": len(pending)}

    async def do_session_call(self, method: str, args: Any) -> Any:
        session = self.gate.session(user_request="")

        def run(own: Any = args) -> Any:
            self.done["ran"] += 1
            return own

        if method == "request":
            return session.request("email.send", args)
        runs = [run] if method in ("call", "guard") else []
        value = getattr(session, method)("email.send", args, *runs)
        if self.is_async:
            value = await value
        return told_permit(value) if method == "permit" else value

    async def do_conversation(
        self, user_request: str, trusted: list[str], says: list[str], calls: list[Any], next: Any
    ) -> Any:
        session = self.gate.session(user_request=user_request, trusted=trusted)
        for text in says:
            session.user_says(text)
        for one in calls:
            given = copy.deepcopy(one["args"])

            def run(own: dict[str, Any], one: Any = one) -> Any:
                self.done["ran"] += 1
                if "asks" in one:
                    return self.gate.guard({"action": one["asks"], "context": {}}, lambda: None)
                if one.get("changes"):
                    own["list"].append("changed")
                if "throws" in one:
                    raise RuntimeError(one["throws"])
                return one["returns"]

            with contextlib.suppress(RuntimeError, ActionRefused):
                value = session.call(one["tool"], one["args"], run)
                if self.is_async:
                    await value
            assert one["args"] == given, "the arguments of the caller have changed"
        return session.request("next", next)["context"]

    def waiting(self, options: dict[str, Any]) -> dict[str, Any]:
        return {name: value / 1000 for name, value in options.items()}

    def do_wait_for_approval(self, id: str, **options: Any) -> Any:
        return self.gate.wait_for_approval(id, **self.waiting(options))

    async def do_events(self, count: int, last_event_id: Any = None) -> Any:
        taken: list[Any] = []
        events = self.gate.events(last_event_id=last_event_id)
        while len(taken) < count:
            event = await events.__anext__() if self.is_async else next(events)
            del event["position"]
            taken.append(event)
        if self.is_async:
            await events.aclose()
        else:
            events.close()
        return taken

    def do_evidence_verify(self, bundle: Any) -> Any:
        return self.gate.evidence.verify(bundle)

    def do_endpoint(self, call: str, given: dict[str, Any]) -> Any:
        """Call an endpoint: with an id, then a body, or with options."""
        method = self.gate
        for name in call.split("."):
            method = getattr(method, snake(name))
        taken = inspect.signature(method).parameters
        members = dict(given)
        ids = [members.pop("id")] if "id" in taken and "id" in members else []
        if "request" in taken:
            return method(*ids, snakes(members))
        return method(*ids, **snakes(members))


def told_permit(permit: Any) -> dict[str, Any]:
    """Return a permit in words that are the same in every language."""
    return {"decision": permit.decision["decision"], "isValid": permit.is_valid()}


def told(error: Exception) -> dict[str, Any]:
    """Return an error in words that are the same in every language."""
    if isinstance(error, GateError):
        after = None if error.retry_after is None else error.retry_after * 1000
        return {
            "name": "GateError",
            "code": error.code,
            "status": error.status,
            "message": str(error),
            "details": error.details,
            "retryAfterMs": after,
        }
    if isinstance(error, ActionRefused):
        return {
            "name": "ActionRefused",
            "action": error.action,
            "reason": error.reason,
            "decision": error.decision and error.decision["decision"],
            "cause": error.error and error.error.code,
        }
    return {"name": "Error", "message": str(error), "type": type(error).__name__}


def main(is_async: bool) -> None:
    """Answer each line."""
    for line in sys.stdin:
        job = json.loads(line)
        runner = Runner(is_async, job["options"])
        done = asyncio.run(runner.run(job["call"], job.get("with", {})))
        print(json.dumps(done), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] == ["asyncio"])
