"""Asks a gate-sidecar before an action of an agent runs. See docs/integrations/python.md.

`GateClient` is for threads, `AsyncGateClient` for asyncio. Every failure is a deny. The shapes of all requests and
answers are in `gate_sidecar.client.types`.
"""

from ._async_client import AsyncGateClient
from ._client import GateClient
from ._errors import ActionRefused, Cancelled, GateError
from ._events import GateEvent
from ._guard import Mode, Observed
from ._permit import Permit
from ._provenance import Origin
from ._session import AsyncGateSession, GateSession
from .types import Approval, CheckRequest, Decision

__all__ = [
    "ActionRefused",
    "Approval",
    "AsyncGateClient",
    "AsyncGateSession",
    "Cancelled",
    "CheckRequest",
    "Decision",
    "GateClient",
    "GateError",
    "GateEvent",
    "GateSession",
    "Mode",
    "Observed",
    "Origin",
    "Permit",
]
