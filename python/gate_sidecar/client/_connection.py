"""Calls of the service over HTTP. Each has a connection of its own, and nothing is kept."""

from __future__ import annotations

import itertools
import random
import re
import ssl
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional
from urllib.parse import quote, urlencode, urlsplit

from ._answer import malformed, read_answer
from ._breaker import Breaker
from .types import ROUTES
from ._errors import GateError, invalid_request, is_passing
from ._http import Broken, Response, TooLarge, request_bytes
from ._json import json_bytes
from ._network import MAX_SECONDS, Address, Network, OutOfTime, checked_seconds

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
_CREDENTIAL = re.compile(r"[!-~]+")

OnHeaders = Callable[[Mapping[str, str]], None]


@dataclass(frozen=True)
class Service:
    """A sidecar, with the credentials and limits of its caller."""

    address: Address
    origin: str
    path: str
    """Prefix of the paths of all routes, such as `/gate`."""
    host: str
    tenant_id: str
    api_key: str = field(repr=False)
    timeout: float
    retries: int
    breaker: Breaker = field(default_factory=Breaker, repr=False, compare=False)


def service(tenant_id: str, api_key: str, base_url: str, timeout: float, retries: int) -> Service:
    """Return what the options of a client mean. Raises ValueError for those that cannot be used."""
    if not (_CREDENTIAL.fullmatch(tenant_id or "") and _CREDENTIAL.fullmatch(api_key or "")):
        raise ValueError("tenant_id and api_key are needed, in printable ASCII without spaces")
    timeout = checked_seconds("timeout", timeout)
    if timeout <= 0:
        raise ValueError("timeout must be above 0")
    if not retries >= 0:
        raise ValueError("retries must be a number, 0 or more")
    url = urlsplit(base_url)
    if url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc:
        raise ValueError("base_url must be the URL of a sidecar, such as http://127.0.0.1:4283")
    if url.query or url.fragment or _CREDENTIAL.fullmatch(base_url) is None:
        raise ValueError("base_url has no query, no fragment, and nothing but printable ASCII")
    tls = ssl.create_default_context() if url.scheme == "https" else None
    port = url.port or (80 if tls is None else 443)
    return Service(
        address=Address(url.hostname, port, tls),
        origin=f"{url.scheme}://{url.netloc}",
        path=url.path.rstrip("/"),
        host=url.netloc,
        tenant_id=tenant_id,
        api_key=api_key,
        timeout=timeout,
        retries=retries,
    )


@dataclass(frozen=True)
class Connection:
    """The service over a network."""

    service: Service
    network: Network

    def lasting(self) -> Connection:
        """Return the same for work that must finish after a cancellation."""
        return Connection(self.service, self.network.lasting())

    async def call(self, name: str, **given: Any) -> Any:
        """Return what `_call` does. Raises GateError `circuit_open` while the service is away."""
        breaker = self.service.breaker
        is_trial = breaker.begin()
        try:
            answer = await self._call(name, **given)
        except BaseException as error:
            breaker.end(is_trial, error)
            raise
        breaker.end(is_trial)
        return answer

    async def _call(
        self,
        name: str,
        *,
        params: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        held: float = 0.0,
        on_headers: Optional[OnHeaders] = None,
    ) -> Any:
        """Return `data` of the answer of a route, of a page the whole answer.

        `timeout` stands in place of that of the client. `held` are the seconds that the service may
        hold the answer, on top of it. `on_headers` gets the headers of each response. Raises GateError,
        or what the caller was cancelled with.
        """
        route = ROUTES[name]
        seconds = (self.service.timeout if timeout is None else timeout) + held
        end = time.monotonic() + min(seconds, MAX_SECONDS)
        headers = {}
        if route.repeat == "with_key":
            headers["idempotency-key"] = idempotency_key or str(uuid.uuid4())
        payload = None
        if body is not None:
            headers["content-type"] = "application/json"
            named = {_camel(name): value for name, value in body.items()}
            payload = json_bytes({"tenantId": self.service.tenant_id, **named})
        filled = target(route.path, params or {}, query or {})
        request = self._request(route.method, filled, headers, payload)
        for repeated in itertools.count():
            try:
                return await self._answer(request, route.form, end, on_headers)
            except _FAILURES as cause:
                error = self._error_of(cause)
                is_last = repeated >= self.service.retries or route.repeat == "never"
                pause = max(error.retry_after or 0.0, _backoff(repeated))
                is_late = error.code == "timeout" or time.monotonic() + pause >= end
                if is_last or is_late or not is_passing(error):
                    raise error from error.__cause__
            await self.network.pause(pause)

    async def open(self, name: str, headers: Mapping[str, str], end: float) -> Response:
        """Return an answer as it comes, whatever its status, without repetition. For streams.

        Its head has come by `end`. Raises GateError.
        """
        route = ROUTES[name]
        try:
            return await self._opened(self._request(route.method, route.path, headers, None), end)
        except _FAILURES as cause:
            raise self._error_of(cause) from cause

    async def _answer(
        self, request: bytes, form: str, end: float, on_headers: Optional[OnHeaders]
    ) -> Any:
        response = await self._opened(request, end)
        try:
            if on_headers is not None:
                on_headers(response.headers)
            body = await response.whole(end)
        except TooLarge:
            raise malformed(response.status) from None
        finally:
            response.close()
        return read_answer(response.status, response.headers, body, form)

    async def _opened(self, request: bytes, end: float) -> Response:
        stream = await self.network.connect(self.service.address, end)
        response = Response(stream)
        try:
            await stream.send(request, end)
            await response.read_head(end)
        except BaseException:
            response.close()
            raise
        return response

    def _request(
        self, method: str, target: str, headers: Mapping[str, str], body: Optional[bytes]
    ) -> bytes:
        named = {
            "host": self.service.host,
            "x-api-key": self.service.api_key,
            "x-tenant-id": self.service.tenant_id,
        }
        return request_bytes(method, self.service.path + target, {**named, **headers}, body)

    def _error_of(self, cause: Exception) -> GateError:
        if isinstance(cause, GateError):
            return cause
        if isinstance(cause, OutOfTime):
            error = GateError("timeout", f"{self.service.origin} did not answer in time.")
        else:
            message = f"{self.service.origin} cannot be reached: {cause}. Is the sidecar running?"
            error = GateError("unreachable", message)
        error.__cause__ = cause
        return error


_FAILURES = (GateError, OSError, UnicodeError, Broken, OutOfTime)


def _camel(name: str) -> str:
    """Return the camel-case name that the API has for a member of a request."""
    return _SNAKE.sub(lambda letter: letter[1].upper(), name)


_SNAKE = re.compile(r"_([a-z])")


def target(path: str, params: Mapping[str, str], query: Mapping[str, Any]) -> str:
    """Return the path of a route, filled in. Raises GateError for what would be another path."""

    def filled(part: str) -> str:
        if not part.startswith(":"):
            return part
        value = params[part[1:]]
        if value in ("", ".", ".."):
            raise invalid_request(f"{part[1:]} is needed.")
        return quote(value, safe="")

    asked = {name: value for name, value in query.items() if value is not None}
    filled_path = "/".join(filled(part) for part in path.split("/"))
    return f"{filled_path}?{urlencode(asked)}" if asked else filled_path


def _backoff(repeated: int) -> float:
    """Return a random half to whole of the pause: callers that failed together retry apart."""
    most: float = min(_FIRST_PAUSE_SECONDS * 2**repeated, _LONGEST_PAUSE_SECONDS)
    return most / 2 + random.random() * most / 2
