"""Runs what the gate allows, and reports the outcome to the service."""

from __future__ import annotations

import logging
import time
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Dict, Literal, Optional

from .types import CheckRequest, Decision
from ._connection import Connection
from ._errors import ActionRefused, GateError
from ._permit import OnPending, Verdict, verdict_on

Mode = Literal["enforce", "observe"]
"""`enforce` runs what the gate allows. `observe` runs all, and tells what would not have run."""

_TRIES = 3
"""Limit of attempts when allows expire before the action can begin."""
_MAX_ERROR = 500
_RECORD_SECONDS = 5.0
"""Time limit of recording: the caller has acted, and waits no longer."""
_LATE = "The allowed action could not be started in time."
_LOG = logging.getLogger("gate_sidecar")


@dataclass(frozen=True)
class Observed:
    """An action that ran although the policies did not allow it.

    The mode of the client, or of the policies, is `observe`.
    """

    action: str
    reason: str
    decision: Optional[Decision]
    error: Optional[GateError]


OnObserved = Callable[[Observed], None]
OnUnrecorded = Callable[[str, GateError], None]


@dataclass(frozen=True)
class GuardSettings:
    """Settings of a client for its guarded actions."""

    mode: Mode
    on_observed: OnObserved
    on_unrecorded: OnUnrecorded


def guard_settings(
    mode: Mode, on_observed: Optional[OnObserved], on_unrecorded: Optional[OnUnrecorded]
) -> GuardSettings:
    """Return the settings. Raises ValueError for an unknown mode."""
    if mode not in ("enforce", "observe"):
        raise ValueError("mode must be enforce or observe")
    return GuardSettings(
        mode, on_observed or _warn_of_observed, on_unrecorded or _warn_of_unrecorded
    )


def _warn_of_observed(observed: Observed) -> None:
    _LOG.warning("%s ran, and would not have been allowed: %s", observed.action, observed.reason)


def _warn_of_unrecorded(decision_id: str, error: GateError) -> None:
    _LOG.warning("the outcome of %s could not be recorded: %s", decision_id, error)


class Admitted:
    """An action that is to run now."""

    def __init__(
        self, connection: Connection, settings: GuardSettings, decision: Optional[Decision]
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._decision = decision
        self._started = time.monotonic()

    async def ended(self, error: Optional[BaseException] = None) -> None:
        """Record the outcome: it failed with this error, or succeeded."""
        outcome: Dict[str, Any] = {"status": "succeeded"}
        if error is not None:
            outcome = {"status": "failed", "error": _text_of(error)}
        outcome["duration_ms"] = round((time.monotonic() - self._started) * 1000)
        await _record(self._connection, self._settings, self._decision, outcome)


async def admit(
    connection: Connection,
    settings: GuardSettings,
    request: CheckRequest,
    *,
    approval_timeout: float = 0.0,
    on_pending: Optional[OnPending] = None,
    refused: Optional[ActionRefused] = None,
) -> Admitted:
    """Return once the action is to run. Raises ActionRefused when it is not.

    `refused` says why the gate is not asked.
    """
    verdict: Verdict
    if refused is not None:
        verdict = refused
    elif settings.mode == "observe":
        verdict = await verdict_on(connection, request)
    else:
        verdict = await _permit_for_now(connection, settings, request, approval_timeout, on_pending)
    if isinstance(verdict, ActionRefused):
        if settings.mode != "observe":
            raise verdict
        reason = verdict.reason if verdict.decision is None else verdict.decision["reason"]
        settings.on_observed(Observed(verdict.action, reason, verdict.decision, verdict.error))
    elif verdict.decision.get("observed", "allow") != "allow":
        # The policies are only observed.
        reason = verdict.decision["reason"]
        settings.on_observed(Observed(request["action"], reason, verdict.decision, None))
    return Admitted(connection, settings, verdict.decision)


async def _permit_for_now(
    connection: Connection,
    settings: GuardSettings,
    request: CheckRequest,
    approval_timeout: float,
    on_pending: Optional[OnPending],
) -> Verdict:
    """Return a verdict that is good now: an allow that took too long to come is asked for again."""
    decision: Optional[Decision] = None
    for _ in range(_TRIES):
        verdict = await verdict_on(
            connection, request, approval_timeout=approval_timeout, on_pending=on_pending
        )
        is_cancelled = connection.network.is_cancelled()
        if isinstance(verdict, ActionRefused) or (verdict.is_valid() and not is_cancelled):
            return verdict
        decision = verdict.decision
        await _record(connection, settings, decision, {"status": "not_run", "error": _LATE})
        connection.network.check()
    return ActionRefused(str(request.get("action")), _LATE, decision)


async def _record(
    connection: Connection,
    settings: GuardSettings,
    decision: Optional[Decision],
    outcome: Dict[str, Any],
) -> None:
    """Record an outcome. A failure to record is reported, and does not fail the action."""
    if decision is None:
        return
    body = {"decision_id": decision["decisionId"], **outcome}
    if settings.mode == "observe":
        body["observed"] = True
    try:
        await connection.lasting().call("outcome", body=body, timeout=_RECORD_SECONDS)
    except GateError as error:
        settings.on_unrecorded(decision["decisionId"], error)


def _text_of(error: BaseException) -> str:
    """Return an error as it stands at the end of a traceback, whatever its text does."""
    text = "".join(traceback.format_exception_only(type(error), error)).strip()[:_MAX_ERROR]
    # Half of a character has no UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")
