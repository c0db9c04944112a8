"""Circuit breaker: while the service does not answer, calls are refused at once."""

from __future__ import annotations

import threading
import time
from typing import Optional

from ._errors import GateError

_MAX_FAILURES = 3
"""Number of calls in a row without an answer, after which further calls are refused."""
_PAUSE_SECONDS = 2.0
"""Time from the last failure to the next call that is tried."""


class Breaker:
    """Counts the calls of one client, from all its threads.

    Streams and calls that the caller cancels do not count.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        """Calls in a row without an answer."""
        self._retry = 0.0
        self._is_trying = False

    def begin(self) -> bool:
        """Return whether this call tries if the service is back. Raises `circuit_open`."""
        with self._lock:
            if self._failures < _MAX_FAILURES:
                return False
            left = max(0.0, self._retry - time.monotonic())
            if left > 0 or self._is_trying:
                raise GateError("circuit_open", _refusal(self._failures, left), retry_after=left)
            self._is_trying = True
            return True

    def end(self, is_trial: bool, error: Optional[BaseException] = None) -> None:
        """Take in the result of a call that has begun."""
        with self._lock:
            if is_trial:
                self._is_trying = False
            if error is None or (isinstance(error, GateError) and error.status is not None):
                self._failures = 0
            elif isinstance(error, GateError) and error.code in ("unreachable", "timeout"):
                self._failures += 1
                self._retry = time.monotonic() + _PAUSE_SECONDS


def _refusal(failures: int, left: float) -> str:
    then = f"The next call is tried in {left:.1f} s." if left > 0 else "Another call is trying now."
    return f"The sidecar did not answer the last {failures} calls. {then}"
