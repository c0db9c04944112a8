"""HTTP/1.1 (RFC 9112), as far as a client needs it that sends one request on each connection."""

from __future__ import annotations

import http.client
import io
import re
from typing import Dict, Mapping, Optional

from ._errors import invalid_request
from ._network import Stream

MAX_BODY_BYTES = 64 * 1024 * 1024
_MAX_HEAD_BYTES = 64 * 1024
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: [^\r\n]*)?")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?")
_HEADER = re.compile(r"[\t\x20-\x7e]*")


class Broken(Exception):
    """The answer is not valid HTTP, or is incomplete. The text says why."""


class TooLarge(Exception):
    """An answer is larger than any that the service gives."""


def request_bytes(
    method: str, target: str, headers: Mapping[str, str], body: Optional[bytes]
) -> bytes:
    """Return a request as it is sent. Raises GateError for a header that would be more than one."""
    length = {} if body is None else {"content-length": str(len(body))}
    lines = [f"{method} {target} HTTP/1.1"]
    for name, value in {**headers, **length, "connection": "close"}.items():
        if _HEADER.fullmatch(value) is None:
            raise invalid_request(f"The header {name} may hold printable ASCII only.")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (body or b"")


class Response:
    """An answer as it comes. Times are of `time.monotonic`."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._buffer = bytearray()
        self.status = 0
        self.headers: Dict[str, str] = {}
        self._is_chunked = False
        self._left: Optional[int] = 0
        """Bytes of the body, or of the chunk; None: all that comes."""

    def close(self) -> None:
        """Give up the connection."""
        self._stream.close()

    async def read_head(self, end: float) -> None:
        """Read status and headers."""
        while self.status < 200:  # the answers before the answer
            head = await self._until(b"\r\n\r\n", end)
            first, _, rest = head.partition(b"\r\n")
            status = _STATUS.fullmatch(first)
            if status is None:
                raise Broken("it does not speak HTTP/1.1")
            self.status = int(status[1])
            self._take_headers(rest + b"\r\n\r\n")

    def _take_headers(self, lines: bytes) -> None:
        try:
            message = http.client.parse_headers(io.BytesIO(lines))
        except http.client.HTTPException as error:
            raise Broken("it has too many headers, or too long ones") from error
        self.headers = {name.lower(): value for name, value in message.items()}
        codings = message.get_all("transfer-encoding")
        lengths = set(message.get_all("content-length") or [])
        if codings is not None:
            if [coding.lower() for coding in codings] != ["chunked"]:
                raise Broken("it has a transfer-encoding that was not asked for")
            self._is_chunked = True
        elif lengths:
            length = lengths.pop()
            if lengths or not (length.isascii() and length.isdigit() and len(length) < 19):
                raise Broken("it does not say how long it is")
            self._left = int(length)
        else:
            self._left = 0 if self.status in (204, 304) else None

    async def part(self, end: float) -> bytes:
        """Return the next bytes of the body; nothing at its end."""
        if self._is_chunked and self._left == 0:
            await self._begin_chunk(end)
        if self._left == 0:
            return b""
        if not self._buffer:
            self._buffer += await self._stream.read(end)
        if not self._buffer and self._left is not None:
            raise Broken("the connection ended before the answer did")
        taken = bytes(self._buffer[: self._left])
        del self._buffer[: len(taken)]
        if self._left is not None:
            self._left -= len(taken)
            if self._is_chunked and self._left == 0:
                await self._until(b"\r\n", end)
        return taken

    async def _begin_chunk(self, end: float) -> None:
        """Read how long the next chunk is; the last one has no bytes, and ends the body."""
        line = _CHUNK.fullmatch(await self._until(b"\r\n", end))
        if line is None:
            raise Broken("it has a chunk that does not say how long it is")
        self._left = int(line[1], 16)
        self._is_chunked = self._left > 0

    async def whole(self, end: float) -> bytes:
        """Return the whole body. Raises TooLarge."""
        body = bytearray()
        while True:
            if not self._is_chunked and (self._left or 0) > MAX_BODY_BYTES:
                raise TooLarge
            part = await self.part(end)
            if not part:
                return bytes(body)
            body += part
            if len(body) > MAX_BODY_BYTES:
                raise TooLarge

    async def _until(self, mark: bytes, end: float) -> bytes:
        """Return what comes before the mark, and leave it out."""
        start = 0
        while True:
            at = self._buffer.find(mark, start)
            if at >= 0:
                found = bytes(self._buffer[:at])
                del self._buffer[: at + len(mark)]
                return found
            if len(self._buffer) > _MAX_HEAD_BYTES:
                raise Broken("it has a head or a line without end")
            start = max(0, len(self._buffer) - len(mark))
            more = await self._stream.read(end)
            if not more:
                raise Broken("the connection ended before the answer did")
            self._buffer += more
