"""One conversation of one agent, of which policies are told who wrote what."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Dict,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
    overload,
)

from .types import CheckRequest, Decision
from ._arguments import own_copy
from ._errors import ActionRefused, GateError
from ._guarded import F, await_guarded, named_call, refuse_generator, run_guarded
from ._network import Blocking
from ._permit import OnPending, Permit
from ._provenance import Provenance
from ._thrown import said_by, text_of

if TYPE_CHECKING:
    from ._async_client import AsyncGateClient
    from ._client import GateClient

T = TypeVar("T")

ToolArgs = Mapping[str, Any]
ActionOf = Callable[[str, ToolArgs], str]
ContextOf = Callable[[str, ToolArgs], Mapping[str, Any]]


class Waiting(NamedTuple):
    """Wait of the calls of a decorated function for people."""

    approval_timeout: float
    on_pending: Optional[OnPending]


class SessionFacts:
    """Works out what policies ask of a session, from what the user said and what tools answered.

    Tell it of both before the model reads them.
    """

    def __init__(
        self,
        *,
        user_request: str,
        id: Optional[str] = None,
        action_of: Optional[ActionOf] = None,
        context_of: Optional[ContextOf] = None,
        trusted: Sequence[str] = (),
    ) -> None:
        self._id = id
        self._action_of = action_of
        self._context_of = context_of
        self._trusted = frozenset(trusted)
        self._provenance = Provenance(user_request)

    def user_says(self, text: str) -> None:
        """Add further words of the user."""
        self._provenance.user_says(text)

    def observe(
        self,
        tool_name: str,
        result: Any,
        *,
        trusted: Optional[bool] = None,
        untrusted: Sequence[str] = (),
    ) -> None:
        """Take in the result of a tool: text, or JSON values.

        An untrusted result taints the session, and every value in it is from a third party.
        `trusted` says that only the user and their own systems can have written it; by default,
        that follows from the trusted tools of the session. `untrusted` are paths of a trusted
        result that others can have written, such as `messages.*.body`.
        Raises TypeError for a result that is not made of JSON values.
        """
        if trusted is None:
            trusted = tool_name in self._trusted
        self._provenance.observe(result, trusted=trusted, untrusted=untrusted)

    def _observe_any(self, tool_name: str, result: Any) -> None:
        """Take in a result of any type. The model may still read values that JSON does not have."""
        try:
            self.observe(tool_name, result)
        except TypeError:
            self._observe_part(tool_name, text_of(result) or "")

    def _observe_raised(self, tool_name: str, error: BaseException) -> None:
        """Take in what a tool raised, which others can have written."""
        said, is_all = said_by(error)
        if is_all:
            self.observe(tool_name, said)
        else:
            self._observe_part(tool_name, said)

    def _observe_part(self, tool_name: str, result: Any) -> None:
        """Take in a part of what the model may read."""
        self.observe(tool_name, result)
        if tool_name not in self._trusted:
            self._provenance.read_unseen()

    def request(self, tool_name: str, args: ToolArgs) -> CheckRequest:
        """Return what is asked of the gate before a tool is called.

        Raises GateError `invalid_request` for arguments that it cannot be told of.
        """
        return self._request_for(tool_name, own_copy(args))

    def _prepare(
        self, tool_name: str, args: Any
    ) -> Tuple[Dict[str, Any], CheckRequest, Optional[ActionRefused]]:
        """Return what runs, what is asked about it, and why it is not asked, if so."""
        try:
            own = own_copy(args)
        except GateError as error:
            request = self._request_for(tool_name, {})
            return args, request, ActionRefused(request["action"], str(error), None, error)
        return own, self._request_for(tool_name, own), None

    def _request_for(self, tool_name: str, args: Dict[str, Any]) -> CheckRequest:
        context: Dict[str, Any] = {}
        if self._context_of is not None:
            context.update(self._context_of(tool_name, args))
        if self._id is not None:
            context["session"] = self._id
        context["args"] = args
        context["userRequest"] = self._provenance.user_request
        context["tainted"] = self._provenance.is_tainted
        context["provenance"] = self._provenance.of(args)
        action = tool_name if self._action_of is None else self._action_of(tool_name, args)
        return {"action": action, "context": context}


class GateSession(SessionFacts):
    """One conversation of one agent.

    session = gate.session(user_request="Pay the bill in bill.txt")
    bill = session.call("read_file", {"path": "bill.txt"}, lambda args: read(args["path"]))
    session.call("send_money", {"to": iban, "amount": amount}, lambda args: pay(**args))
    """

    def __init__(self, gate: GateClient, **facts: Any) -> None:
        super().__init__(**facts)
        self._gate = gate

    def decide(
        self,
        tool_name: str,
        args: ToolArgs,
        *,
        wait: float = 0.0,
        explain: bool = False,
        idempotency_key: Optional[str] = None,
        cancel: Optional[threading.Event] = None,
    ) -> Decision:
        """Ask as `GateClient.decide` does."""
        return self._gate.decide(
            self.request(tool_name, args),
            wait=wait,
            explain=explain,
            idempotency_key=idempotency_key,
            cancel=cancel,
        )

    def permit(
        self,
        tool_name: str,
        args: ToolArgs,
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
        cancel: Optional[threading.Event] = None,
    ) -> Permit:
        """Ask as `GateClient.permit` does."""
        _, request, refused = self._prepare(tool_name, args)
        if refused is not None:
            raise refused
        return self._gate.permit(
            request, approval_timeout=approval_timeout, on_pending=on_pending, cancel=cancel
        )

    def guard(
        self,
        tool_name: str,
        args: ToolArgs,
        run: Callable[[], T],
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
        cancel: Optional[threading.Event] = None,
    ) -> T:
        """Run the function as `GateClient.guard` does."""
        _, request, refused = self._prepare(tool_name, args)
        return self._run(request, refused, run, approval_timeout, on_pending, cancel)

    def _run(
        self,
        request: CheckRequest,
        refused: Optional[ActionRefused],
        run: Callable[[], T],
        approval_timeout: float,
        on_pending: Optional[OnPending],
        cancel: Optional[threading.Event],
    ) -> T:
        return run_guarded(
            self._gate._service,
            Blocking(cancel),
            self._gate._settings,
            request,
            run,
            refused=refused,
            approval_timeout=approval_timeout,
            on_pending=on_pending,
        )

    def call(
        self,
        tool_name: str,
        args: ToolArgs,
        run: Callable[[Dict[str, Any]], T],
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
        cancel: Optional[threading.Event] = None,
    ) -> T:
        """Run the function with a copy of the arguments that were checked, and observe its result.

        Its error is observed too. Raises ActionRefused when it did not run.
        """
        own, request, refused = self._prepare(tool_name, args)
        has_run = False

        def act() -> T:
            nonlocal has_run
            has_run = True
            return run(own)

        try:
            result = self._run(request, refused, act, approval_timeout, on_pending, cancel)
        except BaseException as error:
            if has_run:
                self._observe_raised(tool_name, error)
            raise
        self._observe_any(tool_name, result)
        return result

    def guarded(
        self,
        tool_name: Optional[str] = None,
        *,
        exclude: Sequence[str] = (),
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Callable[[F], F]:
        """Make each call of a function a `call` of this session, as a decorator.

        Its arguments are known by their names, without `self` and those in `exclude`, such as the
        context of a framework. Without `tool_name` the tool has the name of the function.
        """
        waiting = Waiting(approval_timeout, on_pending)
        return guarded_tool(GateSession, lambda *_, **__: self, tool_name, exclude, waiting)


class AsyncGateSession(SessionFacts):
    """One conversation of one agent: see `GateSession`."""

    def __init__(self, gate: AsyncGateClient, **facts: Any) -> None:
        super().__init__(**facts)
        self._gate = gate

    async def decide(
        self,
        tool_name: str,
        args: ToolArgs,
        *,
        wait: float = 0.0,
        explain: bool = False,
        idempotency_key: Optional[str] = None,
    ) -> Decision:
        """Ask as `AsyncGateClient.decide` does."""
        request = self.request(tool_name, args)
        return await self._gate.decide(
            request, wait=wait, explain=explain, idempotency_key=idempotency_key
        )

    async def permit(
        self,
        tool_name: str,
        args: ToolArgs,
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Permit:
        """Ask as `AsyncGateClient.permit` does."""
        _, request, refused = self._prepare(tool_name, args)
        if refused is not None:
            raise refused
        return await self._gate.permit(
            request, approval_timeout=approval_timeout, on_pending=on_pending
        )

    @overload
    async def guard(
        self,
        tool_name: str,
        args: ToolArgs,
        run: Callable[[], Awaitable[T]],
        *,
        approval_timeout: float = ...,
        on_pending: Optional[OnPending] = ...,
    ) -> T: ...

    @overload
    async def guard(
        self,
        tool_name: str,
        args: ToolArgs,
        run: Callable[[], T],
        *,
        approval_timeout: float = ...,
        on_pending: Optional[OnPending] = ...,
    ) -> T: ...

    async def guard(
        self,
        tool_name: str,
        args: ToolArgs,
        run: Callable[[], Any],
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Any:
        """Run the function as `AsyncGateClient.guard` does."""
        _, request, refused = self._prepare(tool_name, args)
        return await self._run(request, refused, run, approval_timeout, on_pending)

    async def _run(
        self,
        request: CheckRequest,
        refused: Optional[ActionRefused],
        run: Callable[[], Any],
        approval_timeout: float,
        on_pending: Optional[OnPending],
    ) -> Any:
        return await await_guarded(
            self._gate._service,
            self._gate._settings,
            request,
            run,
            refused=refused,
            approval_timeout=approval_timeout,
            on_pending=on_pending,
        )

    @overload
    async def call(
        self,
        tool_name: str,
        args: ToolArgs,
        run: Callable[[Dict[str, Any]], Awaitable[T]],
        *,
        approval_timeout: float = ...,
        on_pending: Optional[OnPending] = ...,
    ) -> T: ...

    @overload
    async def call(
        self,
        tool_name: str,
        args: ToolArgs,
        run: Callable[[Dict[str, Any]], T],
        *,
        approval_timeout: float = ...,
        on_pending: Optional[OnPending] = ...,
    ) -> T: ...

    async def call(
        self,
        tool_name: str,
        args: ToolArgs,
        run: Callable[[Dict[str, Any]], Any],
        *,
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Any:
        """Run the function, or coroutine function, with a copy of the arguments that were checked.

        Its result, or what it raises, is observed. Raises ActionRefused when it did not run.
        """
        own, request, refused = self._prepare(tool_name, args)
        has_run = False

        def act() -> Any:
            nonlocal has_run
            has_run = True
            return run(own)

        try:
            result = await self._run(request, refused, act, approval_timeout, on_pending)
        except BaseException as error:
            if has_run:
                self._observe_raised(tool_name, error)
            raise
        self._observe_any(tool_name, result)
        return result

    def guarded(
        self,
        tool_name: Optional[str] = None,
        *,
        exclude: Sequence[str] = (),
        approval_timeout: float = 0.0,
        on_pending: Optional[OnPending] = None,
    ) -> Callable[[F], F]:
        """Make each call of a coroutine function a `call`, as a decorator: see `GateSession`."""
        waiting = Waiting(approval_timeout, on_pending)
        return guarded_tool(AsyncGateSession, lambda *_, **__: self, tool_name, exclude, waiting)


def guarded_tool(
    kind: Union[Type[GateSession], Type[AsyncGateSession]],
    session_of: Callable[..., Any],
    tool_name: Optional[str],
    exclude: Sequence[str],
    waiting: Waiting,
) -> Callable[[F], F]:
    """Return the decorator. `session_of` finds the session of a call by its arguments."""
    is_async = kind is AsyncGateSession

    def decorate(function: F) -> F:
        refuse_generator(function)
        if inspect.iscoroutinefunction(function) and not is_async:
            raise TypeError("a coroutine function needs AsyncGateClient")
        if is_async and not inspect.iscoroutinefunction(function):
            raise TypeError("a function that is not a coroutine function needs GateClient")
        name = named_call(function, exclude)

        def asked(*args: Any, **kwargs: Any) -> Any:
            session = session_of(*args, **kwargs)
            if not isinstance(session, kind):
                raise TypeError(f"there is no {kind.__name__} for this call")
            named, run = name(*args, **kwargs)
            return session.call(tool_name or function.__name__, named, run, **waiting._asdict())

        async def asked_later(*args: Any, **kwargs: Any) -> Any:
            return await asked(*args, **kwargs)

        return cast(F, functools.wraps(function)(asked_later if is_async else asked))

    return decorate
