"""Events of the tenant, as they happen."""

from __future__ import annotations

import logging
import time
from typing import Any, AsyncGenerator, Dict, Optional, TypedDict

from ._answer import malformed, read_answer
from ._connection import Connection
from ._errors import GateError, is_passing
from ._http import MAX_BODY_BYTES, Broken, Response, TooLarge
from ._json import parse_json
from ._network import OutOfTime

_SILENCE_SECONDS = 45.0
"""The service gives a sign of life each 15 s."""
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0


class GateEvent(TypedDict):
    """Something that happened, as far as the key may know of it. An event is not a permission."""

    position: str
    """Its place in the stream: where `last_event_id` goes on behind it."""
    id: str
    """Id of the audit entry."""
    timestamp: str
    eventType: str
    data: Any


async def events(
    connection: Connection, last_event_id: Optional[str] = None
) -> AsyncGenerator[GateEvent, None]:
    """Give events as they come, until it is closed.

    A stream that breaks is taken up where it broke, so that none is missed and none comes twice.
    Raises GateError when the service refuses this key or this position.
    """
    position = last_event_id
    failures = 0
    while True:
        try:
            blocks = _blocks(connection, position)
            try:
                async for block in blocks:
                    failures = 0
                    position = block.get("id", position)
                    if "data" in block and position is not None:
                        yield _event(block["data"], position)
            finally:
                await blocks.aclose()
        except GateError as error:
            if not is_passing(error):
                raise
        except (OSError, Broken, OutOfTime):
            pass  # that is taken up again
        await connection.network.pause(
            min(_FIRST_PAUSE_SECONDS * 2 ** min(failures, 10), _LONGEST_PAUSE_SECONDS)
        )
        failures += 1


def _event(data: str, position: str) -> GateEvent:
    try:
        told = parse_json(data.encode("utf-8"))
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise malformed(200)
    event: GateEvent = {**told, "position": position}  # type: ignore[typeddict-item]
    return event


async def _blocks(
    connection: Connection, position: Optional[str]
) -> AsyncGenerator[Dict[str, str], None]:
    """Give the blocks of one stream (HTML, 9.2.6), until it ends or falls silent."""
    headers = {} if position is None else {"last-event-id": position}
    response = await connection.open("events", headers, _next_sign())
    try:
        if response.headers.get("content-type") != "text/event-stream":
            await _refuse(response)
        rest = b""
        while True:
            part = await response.part(_next_sign())
            if not part:
                return
            *texts, rest = (rest + part).split(b"\n\n")
            for text in texts:
                yield _block(text)
            if len(rest) > MAX_BODY_BYTES:
                raise malformed(response.status)
    finally:
        response.close()


async def _refuse(response: Response) -> None:
    """Raise GateError with what the service says in place of a stream."""
    try:
        body = await response.whole(_next_sign())
    except TooLarge:
        raise malformed(response.status) from None
    read_answer(response.status, response.headers, body, "object")
    raise malformed(response.status)


def _next_sign() -> float:
    """Return the time by which the next sign of life must come."""
    return time.monotonic() + _SILENCE_SECONDS


def _block(text: bytes) -> Dict[str, str]:
    """Return the fields that the service sends."""
    lines = text.decode("utf-8", "replace").split("\n")
    pairs = (line.split(": ", 1) for line in lines if line.startswith(("id: ", "data: ")))
    return {name: value for name, value in pairs}


def log_end_of_events(error: Exception) -> None:
    """Log why no more events come."""
    logging.getLogger("gate_sidecar").error("no more events come: %s", error, exc_info=error)
