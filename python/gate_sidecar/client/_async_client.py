"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
from typing import (
    Any,
    AsyncGenerator,
    Awaitable,
    Callable,
    Optional,
    Sequence,
    Set,
    TypeVar,
    Union,
    overload,
)

from .types import Approval, CheckRequest, Decision
from ._asyncio import Asyncio
from ._connection import Connection, service
from ._endpoints import AsyncEndpoints
from ._events import GateEvent, events, log_end_of_events
from ._guard import Mode, OnObserved, OnUnrecorded, guard_settings
from ._guarded import ContextOf as ArgumentsToContext
from ._guarded import F, await_guarded, guarded
from ._permit import OnPending, Permit, decide, permit, wait_for_approval
from ._session import ActionOf, AsyncGateSession, ContextOf, Waiting, guarded_tool

T = TypeVar("T")


class AsyncGateClient(AsyncEndpoints):
    """Calls a gate-sidecar from asyncio, as `GateClient` does from threads.

    A cancelled task stops waiting at once, and an action that has not begun never runs. One that
    was cancelled while it ran is recorded as failed.

        gate = AsyncGateClient(tenant_id="acme", api_key=os.environ["GATE_API_KEY"])
        await gate.guard({"action": "payment.transfer", "context": {"amount": 25}}, pay)
    """

    def __init__(
        self,
        *,
        tenant_id: str,
        api_key: str,
        base_url: str = "http://127.0.0.1:4283",
        timeout: float = 30.0,
        retries: int = 3,
        mode: Mode = "enforce",
        on_observed: Optional[OnObserved] = None,
        on_unrecorded: Optional[OnUnrecorded] = None,
    ) -> None:
        """Take the options of `GateClient`. Raises ValueError for those that cannot be used."""
        self._service = service(tenant_id, api_key, base_url, timeout, retries)
        self._settings = guard_settings(mode, on_observed, on_unrecorded)
        self._connection = Connection(self._service, Asyncio())
        self._listening: Set[asyncio.Task[None]] = set()
        super().__init__(self._connection.call)

    async def decide(
        self,
        request: CheckRequest,
        *,
        wait: float = 0.0,
        explain: bool = False,
        idempotency_key: Optional[str] = None,
    ) -> Decision:
        """Return the decision about an action, whatever it is.

        Only `allow` lets it run, and only until `validUntil`.

        For `wait` seconds, at most 25, the service waits for the decision of people before it
        answers. `explain` asks for `explanation`. Raises GateError when nothing was decided.
        """
        return await decide(
            self._connection, request, wait=wait, explain=explain, idempotency_key=idempotency_key
        )

    async def permit(
        self,
        request: CheckRequest,
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Permit:
        """Return the allow for an action. Raises ActionRefused, even if there is no answer."""
        return await permit(
            self._connection, request, approval_timeout=approval_timeout, on_pending=on_pending
        )

    @overload
    async def guard(
        self,
        request: CheckRequest,
        run: Callable[[], Awaitable[T]],
        *,
        approval_timeout: float = ...,
        on_pending: Optional[OnPending] = ...,
    ) -> T: ...

    @overload
    async def guard(
        self,
        request: CheckRequest,
        run: Callable[[], T],
        *,
        approval_timeout: float = ...,
        on_pending: Optional[OnPending] = ...,
    ) -> T: ...

    async def guard(
        self,
        request: CheckRequest,
        run: Callable[[], Any],
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Any:
        """Run the function if the gate allows the action, and report the outcome to the service.

        Its result is awaited. Raises ActionRefused when it did not run, or what it raises.
        """
        return await await_guarded(
            self._service,
            self._settings,
            request,
            run,
            approval_timeout=approval_timeout,
            on_pending=on_pending,
        )

    def guarded(
        self,
        action: str,
        *,
        context: Optional[ArgumentsToContext] = None,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Callable[[F], F]:
        """Guard each call of a coroutine function, as a decorator: see `GateClient.guarded`."""
        return guarded(
            self._service, None, self._settings, action, context, approval_timeout, on_pending
        )

    def guarded_tool(
        self,
        session: Callable[..., AsyncGateSession],
        *,
        tool_name: Optional[str] = None,
        exclude: Sequence[str] = (),
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Callable[[F], F]:
        """Make each call of a coroutine function a `call` of the session of its conversation.

        As a decorator: see `GateClient.guarded_tool`.
        """
        waiting = Waiting(approval_timeout, on_pending)
        return guarded_tool(AsyncGateSession, session, tool_name, exclude, waiting)

    def session(
        self,
        *,
        user_request: str,
        id: Optional[str] = None,
        action_of: Optional[ActionOf] = None,
        context_of: Optional[ContextOf] = None,
        trusted: Sequence[str] = (),
    ) -> AsyncGateSession:
        """Begin a conversation: see `GateClient.session`."""
        return AsyncGateSession(
            self,
            user_request=user_request,
            id=id,
            action_of=action_of,
            context_of=context_of,
            trusted=trusted,
        )

    async def wait_for_approval(
        self, approval_id: str, *, timeout: Optional[float] = None
    ) -> Approval:
        """Return the approval once it is decided; as it is, when nobody decided in time."""
        return await wait_for_approval(self._connection, approval_id, timeout)

    def events(self, *, last_event_id: Optional[str] = None) -> AsyncGenerator[GateEvent, None]:
        """Yield the tenant's events as they happen: see `GateClient.events`."""
        return events(self._connection, last_event_id)

    def on_event(
        self,
        listener: Callable[[GateEvent], Union[None, Awaitable[None]]],
        *,
        last_event_id: Optional[str] = None,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> Callable[[], None]:
        """Tell a function of each event, in a task of its own: see `GateClient.on_event`."""

        async def listen() -> None:
            try:
                async for event in self.events(last_event_id=last_event_id):
                    told = listener(event)
                    if inspect.isawaitable(told):
                        await told
            except Exception as error:
                (on_error or log_end_of_events)(error)

        task = asyncio.get_running_loop().create_task(listen())
        # The loop keeps no task that nobody else keeps.
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)

        def stop() -> None:
            task.cancel()

        return stop
