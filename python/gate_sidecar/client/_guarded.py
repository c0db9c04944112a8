"""The decorator, for functions and for coroutine functions."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, TypeVar, cast

from .types import CheckRequest
from ._asyncio import Asyncio
from ._connection import Connection, Service
from ._guard import GuardSettings, admit
from ._network import Network, checked_seconds, finish
from ._permit import OnPending

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
ContextOf = Callable[..., Mapping[str, Any]]


def run_guarded(
    service: Service,
    network: Network,
    settings: GuardSettings,
    request: CheckRequest,
    run: Callable[[], T],
    **options: Any,
) -> T:
    """Run the function in this thread if the gate allows the action, and record the outcome.

    Raises ActionRefused when it did not run, or what the function raises.
    """
    if inspect.iscoroutinefunction(run):
        raise TypeError("a coroutine function needs AsyncGateClient")
    admitted = finish(admit(Connection(service, network), settings, request, **options))
    try:
        value = run()
        if inspect.iscoroutine(value):
            value.close()
            raise TypeError("the function gave a coroutine, which needs AsyncGateClient")
    except BaseException as error:
        finish(admitted.ended(error))
        raise
    finish(admitted.ended())
    return value


async def await_guarded(
    service: Service,
    settings: GuardSettings,
    request: CheckRequest,
    run: Callable[[], Any],
    **options: Any,
) -> Any:
    """Do the same in the event loop. If the task is cancelled before, the function never runs."""
    admitted = await admit(Connection(service, Asyncio()), settings, request, **options)
    try:
        value = run()
        if inspect.isawaitable(value):
            value = await value
    except BaseException as error:
        await admitted.ended(error)
        raise
    await admitted.ended()
    return value


def guarded(
    service: Service,
    blocking: Optional[Network],
    settings: GuardSettings,
    action: str,
    context: Optional[ContextOf],
    approval_timeout: float,
    on_pending: Optional[OnPending],
) -> Callable[[F], F]:
    """Return the decorator. Without a blocking network it takes coroutine functions only."""
    options: Dict[str, Any] = {
        "approval_timeout": checked_seconds("approval_timeout", approval_timeout),
        "on_pending": on_pending,
    }

    def decorate(function: F) -> F:
        refuse_generator(function)
        context_of = context or _arguments_of(function)

        def request_of(args: Any, kwargs: Any) -> CheckRequest:
            return {"action": action, "context": context_of(*args, **kwargs)}

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def asked_in_loop(*args: Any, **kwargs: Any) -> Any:
                run = functools.partial(function, *args, **kwargs)
                return await await_guarded(
                    service, settings, request_of(args, kwargs), run, **options
                )

            return cast(F, asked_in_loop)
        if blocking is None:
            raise TypeError("a function that is not a coroutine function needs GateClient")

        @functools.wraps(function)
        def asked(*args: Any, **kwargs: Any) -> Any:
            run = functools.partial(function, *args, **kwargs)
            return run_guarded(
                service, blocking, settings, request_of(args, kwargs), run, **options
            )

        return cast(F, asked)

    return decorate


def refuse_generator(function: Callable[..., Any]) -> None:
    """Raise TypeError for what does not run when it is called."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("a generator runs later, piece by piece: guard the work inside it")


NamedCall = Tuple[Dict[str, Any], Callable[[Mapping[str, Any]], Any]]


def named_call(
    function: Callable[..., Any], exclude: Sequence[str] = ()
) -> Callable[..., NamedCall]:
    """Return a function from a call to its arguments, and one that calls with them.

    They are known by their names, with defaults, without `self`, `cls` and those in `exclude`, which
    the function gets as they are. Raises TypeError where `exclude` names no parameter.
    """
    signature = inspect.signature(function)
    first = next(iter(signature.parameters), None)
    unknown = [name for name in exclude if name not in signature.parameters]
    if unknown:
        raise TypeError(f"exclude names no parameter of {function.__name__}: {', '.join(unknown)}")
    hidden = {*exclude, *({first} & {"self", "cls"})}

    def name(*args: Any, **kwargs: Any) -> NamedCall:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        named = {name: value for name, value in bound.arguments.items() if name not in hidden}

        def run(own: Mapping[str, Any]) -> Any:
            bound.arguments.update(own)
            return function(*bound.args, **bound.kwargs)

        return named, run

    return name


def _arguments_of(function: Callable[..., Any]) -> ContextOf:
    """Return what makes the arguments of a call to its context."""
    name = named_call(function)
    return lambda *args, **kwargs: name(*args, **kwargs)[0]
