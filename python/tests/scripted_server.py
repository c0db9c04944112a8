"""A server that answers as a test says, byte by byte if need be."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from typing import Any, Callable, Optional

DECISION = {
    "decision": "allow",
    "reason": "Fine.",
    "decisionId": "dec_1",
    "plan": {"action": "a.b"},
    "timestamp": "2026-01-01T00:00:00.000Z",
    "validUntil": "2026-01-01T00:01:00.000Z",
    "approvalId": None,
}


def envelope(data: Any) -> bytes:
    """Return a whole answer of the service."""
    body = json.dumps({"success": True, "data": data}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


ALLOW = envelope(DECISION)
RECORDED = envelope({"decisionId": "dec_1"})

HANGS = 40.0
"""Seconds that only what hangs takes, on a machine that is busy with other tests."""


class ScriptedServer:
    """Gives each connection to a function, in a thread of its own. Closed with `close`."""

    def __init__(
        self,
        answer: Callable[[socket.socket, str], None],
        tls: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._answer = answer
        self._tls = tls
        self.lines: list[str] = []
        """First lines of the requests, in the order in which they came."""
        self.bodies: list[Any] = []
        self.gone = threading.Event()
        """Set when a client has closed a connection before it was answered."""
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = (
            f"http{'' if tls is None else 's'}://127.0.0.1:{self._listening.getsockname()[1]}"
        )
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                if self._tls is not None:
                    connection = self._tls.wrap_socket(connection, server_side=True)
                head, body = self._read(connection)
                self.lines.append(head)
                self.bodies.append(json.loads(body) if body else None)
                self._answer(connection, head)
            except OSError:
                self.gone.set()
            finally:
                connection.close()

    def _read(self, connection: socket.socket) -> tuple[str, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._received(connection)
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        while len(body) < int(headers.get("content-length", 0)):
            body += self._received(connection)
        return lines[0], body

    def _received(self, connection: socket.socket) -> bytes:
        data = connection.recv(65536)
        if data == b"":
            raise ConnectionError("the client has closed the connection")
        return data

    def wait_until_gone(self, connection: socket.socket) -> None:
        """Wait until the client closes the connection."""
        if connection.recv(1) == b"":
            self.gone.set()

    def close(self) -> None:
        self._listening.close()


def always(*parts: bytes, pause: float = 0.0) -> Callable[[socket.socket, str], None]:
    """Return what sends these bytes to each request, and pauses after each part."""

    def answer(connection: socket.socket, _: str) -> None:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)

    return answer


def allowing(connection: socket.socket, line: str) -> None:
    """Allow everything, and record what became of it."""
    connection.sendall(RECORDED if "/gate/outcome" in line else ALLOW)
