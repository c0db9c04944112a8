"""Asks whether an action may run, and waits for people if asked to."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, Optional, Union

from .types import Approval, CheckRequest, Decision
from ._connection import Connection, OnHeaders
from ._errors import ActionRefused, GateError, is_passing
from ._network import checked_seconds

_DECISIONS = ("allow", "deny", "require_approval")
_HELD_SECONDS = 25
"""Limit of the time that the service holds an answer."""
_AGAIN_SECONDS = 1.0
"""Interval between requests for an approval."""
_SHORTEST_SECONDS = 1.0
"""Time for an answer beside that for which it is held, where less than `_LONG_SECONDS` is left."""
_LONG_SECONDS = 30.0
_AGAIN = "Once they have, call the tool again with the same arguments."
"""Next steps of the agent after a held action."""

OnPending = Callable[[Decision], None]


@dataclass(frozen=True)
class _Clocks:
    """A moment, by the clocks of this process."""

    monotonic: float
    wall: float

    @staticmethod
    def now() -> _Clocks:
        """Return this moment."""
        return _Clocks(time.monotonic(), time.time())

    def passed(self) -> float:
        """Return the seconds since then, by the clock that says more.

        One can stand still while the machine sleeps, the other can be set.
        """
        now = _Clocks.now()
        return max(now.monotonic - self.monotonic, now.wall - self.wall)


@dataclass(frozen=True)
class Permit:
    """Allow for one run of one action, until the decision is no longer valid."""

    decision: Decision
    _asked: _Clocks
    _seconds: float

    def is_valid(self) -> bool:
        """Say if the action may still be begun; else the gate must be asked again."""
        return self._asked.passed() < self._seconds


Verdict = Union[Permit, ActionRefused]
"""Answer to whether an action may run."""


async def decide(
    connection: Connection,
    request: CheckRequest,
    *,
    wait: float = 0.0,
    explain: bool = False,
    idempotency_key: Optional[str] = None,
    on_headers: Optional[OnHeaders] = None,
) -> Decision:
    """Return the decision. Raises GateError when nothing was decided."""
    held = max(0, checked_seconds("wait", wait))
    query = {"wait": math.ceil(held) or None, "explain": 1 if explain else None}
    data = await connection.call(
        "check",
        query=query,
        body=request,
        held=held,
        idempotency_key=idempotency_key,
        on_headers=on_headers,
    )
    if not _is_decision_about(data, request.get("action")):
        raise GateError("malformed_answer", "The answer is not a decision about this action.")
    decision: Decision = data
    return decision


def _is_decision_about(data: Any, action: Any) -> bool:
    """Say if it is what it should be: that is known only once it has been looked at."""
    plan, decision = data.get("plan"), data.get("decision")
    is_named = isinstance(data.get("decisionId"), str) and isinstance(data.get("reason"), str)
    return (
        is_named
        and decision in _DECISIONS
        and isinstance(plan, dict)
        and plan.get("action") == action
    )


async def wait_for_approval(
    connection: Connection, approval_id: str, timeout: Optional[float] = None
) -> Approval:
    """Return the approval once it is decided; as it is, when nobody decided in time.

    A service that is away meanwhile is waited for. Raises GateError for an approval that is not the
    caller's, or when nobody could say anything in time.
    """
    end = math.inf
    if timeout is not None:
        end = time.monotonic() + checked_seconds("timeout", timeout)
    while True:
        seconds = max(0.0, end - time.monotonic())
        wait = math.ceil(min(seconds, _HELD_SECONDS))
        # A service that hangs takes no more time than was given.
        limit = max(0.0, seconds - wait) + _SHORTEST_SECONDS
        try:
            data = await connection.call(
                "getApproval",
                params={"id": approval_id},
                query={"wait": wait},
                timeout=limit if limit < _LONG_SECONDS else None,
                held=wait,
            )
            if not isinstance(data.get("status"), str):
                raise GateError("malformed_answer", "The answer is not an approval.")
            if data["status"] != "pending" or time.monotonic() >= end:
                approval: Approval = data
                return approval
        except GateError as error:
            if not is_passing(error) or time.monotonic() + _AGAIN_SECONDS >= end:
                raise
        await connection.network.pause(min(_AGAIN_SECONDS, max(0.0, end - time.monotonic())))


async def permit(
    connection: Connection,
    request: CheckRequest,
    *,
    approval_timeout: float = 0.0,
    on_pending: Optional[OnPending] = None,
) -> Permit:
    """Return the allow. Raises ActionRefused."""
    verdict = await verdict_on(
        connection, request, approval_timeout=approval_timeout, on_pending=on_pending
    )
    if isinstance(verdict, ActionRefused):
        raise verdict
    return verdict


async def verdict_on(
    connection: Connection,
    request: CheckRequest,
    *,
    approval_timeout: float = 0.0,
    on_pending: Optional[OnPending] = None,
) -> Verdict:
    """Return whether the action may run. Anything but an allow is a refusal, a GateError too.

    `approval_timeout` are the seconds to wait for people when the action is held. Raises ValueError
    where that is not a number.
    """
    approval_timeout = checked_seconds("approval_timeout", approval_timeout)
    end = time.monotonic() + approval_timeout
    asked: Optional[_Asked] = None
    try:
        asked = await _ask(connection, request)
        while True:
            decision = asked.decision
            approval_id = decision.get("approvalId")
            seconds = end - time.monotonic()
            is_held = decision["decision"] == "require_approval"
            if not is_held or not isinstance(approval_id, str) or seconds <= 0:
                return _verdict(request, asked)
            if on_pending is not None:
                on_pending(decision)
            approval = await wait_for_approval(connection, approval_id, seconds)
            if approval["status"] == "pending":
                return _verdict(request, asked)
            approved: CheckRequest = {**request, "approval_id": approval_id}
            asked = await _ask(connection, approved)
            # Another is asked for when an equal request has used this one: it is waited for too.
            if asked.decision.get("approvalId") == approval_id:
                return _verdict(request, asked)
    except GateError as error:
        return _refused_by(error, request, asked.decision if asked is not None else None)


def _refused_by(
    error: GateError, request: CheckRequest, held: Optional[Decision]
) -> ActionRefused:
    approval_id = held.get("approvalId") if held is not None else None
    reason = str(error)
    if isinstance(approval_id, str):
        reason = f"{error} The approval is {approval_id}. {_AGAIN}"
    return ActionRefused(str(request.get("action")), reason, held, error)


@dataclass(frozen=True)
class _Asked:
    decision: Decision
    date: Optional[str]
    """Header Date of the answer."""
    start: _Clocks
    """Moment before the decision was asked for."""


async def _ask(connection: Connection, request: CheckRequest) -> _Asked:
    start = _Clocks.now()
    headers: Dict[str, str] = {}
    decision = await decide(connection, request, on_headers=headers.update)
    return _Asked(decision, headers.get("date"), start)


def _verdict(request: CheckRequest, asked: _Asked) -> Verdict:
    """Return what a decision means."""
    decision = asked.decision
    if decision["decision"] != "allow":
        return ActionRefused(str(request.get("action")), _refusal(decision), decision)
    return Permit(decision, asked.start, _valid_seconds(decision, asked.date))


def _refusal(decision: Decision) -> str:
    """Return why an action does not run, and what the agent can do about it."""
    reason, approval_id = decision["reason"], decision.get("approvalId")
    if decision["decision"] != "require_approval" or not isinstance(approval_id, str):
        return reason
    return f"{reason} People have to approve it first ({approval_id}). {_AGAIN}"


def _valid_seconds(decision: Decision, date: Optional[str]) -> float:
    """Return a duration, not a deadline: the clocks of two machines differ."""
    try:
        valid_until, since = (_time(decision.get(name)) for name in ("validUntil", "timestamp"))
        if date is not None:
            # The service repeats an allow as long as it is valid. The header has whole seconds: up
            # to one more has passed.
            since = max(since, parsedate_to_datetime(date) + timedelta(seconds=1))
    except (TypeError, ValueError):
        return 0.0
    return (valid_until - since).total_seconds()


def _time(text: Any) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z")
