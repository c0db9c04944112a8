"""The network, in the event loop of asyncio."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, TypeVar

from ._network import READ_BYTES, Address, Network, OutOfTime, Stream, left

T = TypeVar("T")


class Asyncio:
    """The network for tasks. A cancelled task stops waiting at once."""

    async def connect(self, address: Address, end: float) -> Stream:
        """Return a new connection."""
        opening = asyncio.ensure_future(
            asyncio.open_connection(address.host, address.port, ssl=address.tls)
        )
        try:
            reader, writer = await _within(opening, end)
        except BaseException:
            opening.add_done_callback(_close_unused)
            raise
        return _AsyncioStream(reader, writer)

    async def pause(self, seconds: float) -> None:
        """Wait so long."""
        await asyncio.sleep(seconds)

    def is_cancelled(self) -> bool:
        """Return False: a task is told of its cancellation while it waits."""
        return False

    def check(self) -> None:
        """Do nothing, for the same reason."""

    def lasting(self) -> Network:
        """Return the same: what is done after a task was cancelled can wait."""
        return self


class _AsyncioStream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes, end: float) -> None:
        self._writer.write(data)
        await _within(self._writer.drain(), end)

    async def read(self, end: float) -> bytes:
        return await _within(self._reader.read(READ_BYTES), end)

    def close(self) -> None:
        self._writer.transport.abort()


async def _within(work: Awaitable[T], end: float) -> T:
    """Return the result. Raises OutOfTime.

    Not `asyncio.wait_for`: before Python 3.12 it can take a cancellation for itself, and an action
    would run after it.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=left(end))
    finally:
        if not task.done():
            task.cancel()
        task.add_done_callback(_take_note)
    if not task.done():
        raise OutOfTime
    return task.result()


def _take_note(task: asyncio.Future[Any]) -> None:
    """Suppress the warning about an error that is no longer awaited."""
    if not task.cancelled():
        task.exception()


def _close_unused(opening: asyncio.Future[Any]) -> None:
    """Close a connection that opened after its caller gave up."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result()[1].transport.abort()
