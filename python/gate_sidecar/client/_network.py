"""The network, blocking. Everything above it is written once, for threads and for asyncio.

Requests, waits and retries are coroutines over a `Network`. With that of asyncio they wait in its
event loop. With the blocking one nothing in them ever waits for a loop, so that `finish` runs them
to their end at the first step, in the thread of the caller.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from typing import Any, Awaitable, List, NamedTuple, Optional, Protocol, Tuple, TypeVar

from ._errors import Cancelled

T = TypeVar("T")

READ_BYTES = 65536
"""Limit of one read."""
_CANCEL_SECONDS = 0.05
"""Interval at which a waiting thread checks for cancellation."""


MAX_SECONDS = (2**31 - 1) / 1000
"""Longest time that timers accept."""
_AGES_SECONDS = 1e9


def checked_seconds(name: str, value: float) -> float:
    """Return the seconds, up to a limit that is longer than anybody waits.

    Raises ValueError for a time that is not a number, which is a bug of the caller.
    """
    if not isinstance(value, (int, float)) or value != value:
        raise ValueError(f"{name} must be a number of seconds")
    return min(value, _AGES_SECONDS)


class OutOfTime(Exception):
    """The time limit passed before the work was done."""


class Address(NamedTuple):
    """Address at which a sidecar listens."""

    host: str
    port: int
    tls: Optional[ssl.SSLContext]


class Stream(Protocol):
    """A connection. All times are of `time.monotonic`; OutOfTime is raised when they are over."""

    async def send(self, data: bytes, end: float) -> None:
        """Send all of it."""

    async def read(self, end: float) -> bytes:
        """Return what has come, at least one byte; nothing at the end."""

    def close(self) -> None:
        """Give it up at once."""


class Network(Protocol):
    """Connects, and waits. Raises OSError, OutOfTime, or what the caller is cancelled with."""

    async def connect(self, address: Address, end: float) -> Stream:
        """Return a new connection."""

    async def pause(self, seconds: float) -> None:
        """Wait so long."""

    def is_cancelled(self) -> bool:
        """Say if the caller does not want to go on."""

    def check(self) -> None:
        """Raise what the caller is cancelled with, if it is."""

    def lasting(self) -> Network:
        """Return the same network for work that must finish after a cancellation."""


def finish(work: Awaitable[T]) -> T:
    """Run work to its end that waits for nothing but the blocking network."""
    try:
        next(work.__await__())
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("what should have blocked waits for an event loop")


def left(end: float) -> float:
    """Return the seconds until then. Raises OutOfTime when it is over."""
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise OutOfTime
    return seconds


class Blocking:
    """The network for threads. Once `cancel` is set, reading and waiting end with Cancelled."""

    def __init__(self, cancel: Optional[threading.Event] = None) -> None:
        self._cancel = cancel

    async def connect(self, address: Address, end: float) -> Stream:
        """Return a new connection. To be cancelled, it waits until there is one."""
        self.check()
        sock = _connected(address, end)
        try:
            if address.tls is not None:
                sock = address.tls.wrap_socket(
                    sock, server_hostname=address.host, do_handshake_on_connect=False
                )
                sock.settimeout(left(end))
                sock.do_handshake()
        except BaseException:
            sock.close()
            raise
        return _BlockingStream(sock, self._cancel)

    async def pause(self, seconds: float) -> None:
        """Wait so long."""
        if self._cancel is None:
            time.sleep(seconds)
        else:
            self._cancel.wait(seconds)
            self.check()

    def is_cancelled(self) -> bool:
        """Say if the event is set."""
        return self._cancel is not None and self._cancel.is_set()

    def lasting(self) -> Network:
        """Return the network without the event."""
        return Blocking()

    def check(self) -> None:
        """Raise Cancelled if the event is set."""
        if self.is_cancelled():
            raise Cancelled


class _BlockingStream:
    """A socket of which each operation has no longer than is left of the whole."""

    def __init__(self, sock: socket.socket, cancel: Optional[threading.Event]) -> None:
        self._sock = sock
        self._cancel = cancel

    async def send(self, data: bytes, end: float) -> None:
        view = memoryview(data)
        while len(view) > 0:
            self._sock.settimeout(left(end))
            try:
                view = view[self._sock.send(view) :]
            except socket.timeout:
                left(end)

    async def read(self, end: float) -> bytes:
        while True:
            seconds = left(end)
            if self._cancel is not None:
                if self._cancel.is_set():
                    raise Cancelled
                seconds = min(seconds, _CANCEL_SECONDS)
            self._sock.settimeout(seconds)
            try:
                return self._sock.recv(READ_BYTES)
            except socket.timeout:
                left(end)

    def close(self) -> None:
        self._sock.close()


def _connected(address: Address, end: float) -> socket.socket:
    """Return a socket that is connected to the first address of the host that answers."""
    failure: OSError = OSError(f"{address.host} has no address")
    for family, target in _resolved(address.host, address.port, end):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(left(end))
            sock.connect(target)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError as error:
            sock.close()
            left(end)
            failure = error
        except BaseException:
            sock.close()
            raise
    raise failure


def _resolved(host: str, port: int, end: float) -> List[Tuple[int, Any]]:
    """Return the addresses of a host. Names are looked up in a thread: that has no time limit."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return _looked_up(host, port, end)
    return _addresses(host, port)


def _addresses(host: str, port: int) -> List[Tuple[int, Any]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, target) for family, _, _, _, target in found]


def _looked_up(host: str, port: int, end: float) -> List[Tuple[int, Any]]:
    found: List[List[Tuple[int, Any]]] = []
    failed: List[Exception] = []

    def look_up() -> None:
        try:
            found.append(_addresses(host, port))
        except (OSError, UnicodeError) as error:
            failed.append(error)

    thread = threading.Thread(target=look_up, name="gate-sidecar look-up", daemon=True)
    thread.start()
    thread.join(left(end))
    for error in failed:
        raise error
    if not found:
        raise OutOfTime
    return found[0]
