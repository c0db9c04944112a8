"""The client for threads."""

from __future__ import annotations

import threading
from typing import Any, Callable, Iterator, Optional, Sequence, TypeVar

from .types import Approval, CheckRequest, Decision
from ._connection import Connection, service
from ._endpoints import Endpoints
from ._errors import Cancelled
from ._events import GateEvent, events, log_end_of_events
from ._guard import Mode, OnObserved, OnUnrecorded, guard_settings
from ._guarded import ContextOf as ArgumentsToContext
from ._guarded import F, guarded, run_guarded
from ._network import Blocking, finish
from ._permit import OnPending, Permit, decide, permit, wait_for_approval
from ._session import ActionOf, ContextOf, GateSession, Waiting, guarded_tool

T = TypeVar("T")


class GateClient(Endpoints):
    """Calls a gate-sidecar. No failure is an allow.

    Every call raises GateError, and `permit` and `guard` refuse. All times are in
    seconds. It keeps no connection, and threads may share it. A method that takes `cancel` ends
    with Cancelled once that event is set; nothing runs then.

        gate = GateClient(tenant_id="acme", api_key=os.environ["GATE_API_KEY"])
        gate.guard({"action": "payment.transfer", "context": {"amount": 25}}, lambda: pay(25))
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
        """Raise ValueError for options that cannot be used.

        - `timeout`: time limit of a call, retries included.
        - `retries`: how often a call is repeated at most when there was no answer, or one that says
          so (429, 503).
        - `mode`: `observe` runs everything, and reports what would not have run.
        - `on_observed`: called with each such action, and each that runs only because the policies
          are observed; otherwise it is logged.
        - `on_unrecorded`: called with a decision when the service could not record the outcome of its
          action; otherwise it is logged.
        """
        self._service = service(tenant_id, api_key, base_url, timeout, retries)
        self._settings = guard_settings(mode, on_observed, on_unrecorded)
        super().__init__(self._call)

    def _call(self, name: str, **given: Any) -> Any:
        return finish(self._connection(None).call(name, **given))

    def _connection(self, cancel: Optional[threading.Event]) -> Connection:
        return Connection(self._service, Blocking(cancel))

    def decide(
        self,
        request: CheckRequest,
        *,
        wait: float = 0.0,
        explain: bool = False,
        idempotency_key: Optional[str] = None,
        cancel: Optional[threading.Event] = None,
    ) -> Decision:
        """Return the decision about an action, whatever it is.

        Only `allow` lets it run, and only until `validUntil`.

        For `wait` seconds, at most 25, the service waits for the decision of people before it
        answers. `explain` asks for `explanation`. Raises GateError when nothing was decided.
        """
        return finish(
            decide(
                self._connection(cancel),
                request,
                wait=wait,
                explain=explain,
                idempotency_key=idempotency_key,
            )
        )

    def permit(
        self,
        request: CheckRequest,
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
        cancel: Optional[threading.Event] = None,
    ) -> Permit:
        """Return the allow for an action. Raises ActionRefused, even if the gate cannot be reached.

        A held action waits `approval_timeout` for people; `on_pending` is told of it before.
        """
        return finish(
            permit(
                self._connection(cancel),
                request,
                approval_timeout=approval_timeout,
                on_pending=on_pending,
            )
        )

    def guard(
        self,
        request: CheckRequest,
        run: Callable[[], T],
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
        cancel: Optional[threading.Event] = None,
    ) -> T:
        """Run the function if the gate allows the action, and report the outcome to the service.

        Raises ActionRefused when it did not run, or what the function raises.
        """
        return run_guarded(
            self._service,
            Blocking(cancel),
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
        """Guard each call of a function, or of a coroutine function, as a decorator.

        Its context are its arguments by their names, without `self`; or what `context` makes of the
        same arguments. It runs with the arguments themselves: what others change in a list or a
        dict while the gate is asked is theirs to answer for; `guarded` of a session runs a copy.
        """
        blocking = Blocking()
        return guarded(
            self._service, blocking, self._settings, action, context, approval_timeout, on_pending
        )

    def guarded_tool(
        self,
        session: Callable[..., GateSession],
        *,
        tool_name: Optional[str] = None,
        exclude: Sequence[str] = (),
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Callable[[F], F]:
        """Make each call of a function a `call` of the session of its conversation, as a decorator.

        For tools of an agent that is made once and serves many conversations: `session` gets the
        arguments of the call, and returns the session. `exclude` names parameters that policies do
        not see, such as the context of a framework.

            @gate.guarded_tool(lambda ctx, *_, **__: ctx.deps.session, exclude=["ctx"])
            def pay(ctx, to, amount): ...
        """
        waiting = Waiting(approval_timeout, on_pending)
        return guarded_tool(GateSession, session, tool_name, exclude, waiting)

    def session(
        self,
        *,
        user_request: str,
        id: Optional[str] = None,
        action_of: Optional[ActionOf] = None,
        context_of: Optional[ContextOf] = None,
        trusted: Sequence[str] = (),
    ) -> GateSession:
        """Begin a conversation, with what the user asks for in their own words.

        - `id`: names the session to policies that count within one.
        - `action_of`: names the action of a tool call. By default it is the tool's name.
        - `context_of`: further context of a call for policies, such as `{"effect": "write"}`.
        - `trusted`: tools whose results only the user and their own systems can have written.
        """
        return GateSession(
            self,
            user_request=user_request,
            id=id,
            action_of=action_of,
            context_of=context_of,
            trusted=trusted,
        )

    def wait_for_approval(
        self,
        approval_id: str,
        *,
        timeout: Optional[float] = None,
        cancel: Optional[threading.Event] = None,
    ) -> Approval:
        """Return the approval once it is decided; as it is, when nobody decided in time."""
        return finish(wait_for_approval(self._connection(cancel), approval_id, timeout))

    def events(
        self, *, last_event_id: Optional[str] = None, cancel: Optional[threading.Event] = None
    ) -> Iterator[GateEvent]:
        """Yield the tenant's events as they happen, until it is closed or cancelled.

        A broken stream is resumed. It begins after the event `last_event_id`; without one, now.
        """
        stream = events(self._connection(cancel), last_event_id)
        try:
            while True:
                yield finish(stream.__anext__())
        except Cancelled:
            return
        finally:
            finish(stream.aclose())

    def on_event(
        self,
        listener: Callable[[GateEvent], None],
        *,
        last_event_id: Optional[str] = None,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> Callable[[], None]:
        """Call a function for each event, in a thread. Returns a function that stops this.

        `on_error` is told why no more events come, and what the listener raises; otherwise that is
        logged.
        """
        stopped = threading.Event()

        def listen() -> None:
            try:
                for event in self.events(last_event_id=last_event_id, cancel=stopped):
                    listener(event)
            except Exception as error:
                (on_error or log_end_of_events)(error)

        threading.Thread(target=listen, name="gate-sidecar events", daemon=True).start()
        return stopped.set
