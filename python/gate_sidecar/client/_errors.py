"""Errors that calls of the gate raise."""

from __future__ import annotations

from typing import Dict, List, Optional

from .types import Decision


class GateError(Exception):
    """Nothing was decided or done, as far as is known.

    For a caller that asks whether it may act, this is a deny. `code` is one of the service, or
    `unreachable`, `timeout`, `circuit_open` or `malformed_answer`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: Optional[int] = None,
        details: Optional[List[Dict[str, str]]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        # Both are arguments of the exception, so that it can be pickled.
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.status = status
        """Status of the answer; None when there was none."""
        self.details = details or []
        """Faults of the request: `path`, a JSON pointer, and `message`."""
        self.request_id = request_id
        self.retry_after = retry_after
        """Seconds after which a retry makes sense."""

    def __str__(self) -> str:
        return self.message


class ActionRefused(Exception):
    """The action was not allowed, and did not run. Its text is a sentence for the agent."""

    def __init__(
        self,
        action: str,
        reason: str,
        decision: Optional[Decision] = None,
        error: Optional[GateError] = None,
    ) -> None:
        super().__init__(action, reason, decision, error)
        self.action = action
        self.reason = reason
        """Reason, without the name of the action."""
        self.decision = decision
        """None when the gate could not be asked; `error` has the reason."""
        self.error = error
        self.__cause__ = error

    def __str__(self) -> str:
        return f"{self.action} was not allowed: {self.reason}"


class Cancelled(Exception):
    """The event that was given as `cancel` has been set."""


def is_passing(error: GateError) -> bool:
    """Return whether a retry may succeed."""
    return error.code in _PASSING or error.status in (429, 503)


_PASSING = ("unreachable", "timeout", "circuit_open")


def invalid_request(message: str) -> GateError:
    """Return the error for what cannot be sent, in the words of the service."""
    return GateError("invalid_request", message)
