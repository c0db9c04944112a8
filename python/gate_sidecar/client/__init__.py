"""Asks a gate-sidecar before an action of an agent runs. See docs/integrations/python.md.

`GateClient` is for threads, `AsyncGateClient` for asyncio. Every failure is a deny.
"""

from . import _api
from ._api import *  # noqa: F403  the shapes of every request and answer
from ._async_client import AsyncGateClient
from ._client import GateClient
from ._errors import ActionRefused, Cancelled, GateError
from ._events import GateEvent
from ._guard import Mode, Observed
from ._permit import Allowed, Refused, Verdict
from ._provenance import Origin
from ._session import AsyncGateSession, GateSession

__all__ = [
    "ActionRefused",
    "Allowed",
    "AsyncGateClient",
    "AsyncGateSession",
    "Cancelled",
    "GateClient",
    "GateError",
    "GateEvent",
    "GateSession",
    "Mode",
    "Observed",
    "Origin",
    "Refused",
    "Verdict",
]
__all__ += _api.__all__
