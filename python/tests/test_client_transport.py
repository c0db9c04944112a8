"""Reading and cancellation in the clients, without a gate, on sockets of their own."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
from typing import Any, Callable
from unittest import mock

from gate_sidecar.client import AsyncGateClient, Cancelled, GateClient, GateError

from .scripted_server import ALLOW, DECISION, HANGS, ScriptedServer, allowing, always

REQUEST: Any = {"action": "a.b", "context": {}}
OPTIONS: Any = {"tenant_id": "acme", "api_key": "sk_test_x"}
OPENSSL = shutil.which("openssl")
BODY = ALLOW.partition(b"\r\n\r\n")[2]
EACH_BYTE = [bytes([byte]) for byte in ALLOW]


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """Return the answer in chunks."""
    parts = b"".join(b"%x;x=y\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + parts + end


def with_length(length: str, body: bytes = BODY) -> bytes:
    """Return the answer with a length that is told."""
    return f"HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n".encode() + body


def check_blocking(url: str, **options: Any) -> Any:
    """Ask with the client for threads."""
    return GateClient(**OPTIONS, base_url=url, **options).decide(REQUEST)


def check_asyncio(url: str, **options: Any) -> Any:
    """Ask with the client for asyncio."""

    async def ask() -> Any:
        return await AsyncGateClient(**OPTIONS, base_url=url, **options).decide(REQUEST)

    return asyncio.run(ask())


CHECKS: list[Callable[..., Any]] = [check_blocking, check_asyncio]

READ = {
    "with its length": [ALLOW],
    "byte by byte": EACH_BYTE,
    "in chunks": [chunked(BODY[:10], BODY[10:])],
    "in chunks of a byte": [chunked(*(bytes([byte]) for byte in BODY))],
    "until the connection ends": [b"HTTP/1.0 200 OK\r\n\r\n" + BODY],
    "after an answer before it": [b"HTTP/1.1 100 Continue\r\n\r\n", ALLOW],
    "with a length that is told twice": [
        with_length(f"{len(BODY)}\r\ncontent-length: {len(BODY)}")
    ],
    "with more behind it": [ALLOW + b"HTTP/1.1 500 No\r\n\r\n"],
}
BROKEN = {
    "nothing": [b""],
    "no HTTP": [b"SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    "another version": [ALLOW.replace(b"HTTP/1.1", b"HTTP/2.0")],
    "half of a head": [ALLOW[:20]],
    "half of a body": [ALLOW[:-20]],
    "half of a chunk": [chunked(BODY, end=b"ff\r\n{")],
    "chunks without the last": [chunked(BODY, end=b"")],
    "a chunk of no length": [chunked(BODY, end=b"-1\r\n")],
    "a length that is none": [with_length("1e3")],
    "a negative length": [with_length("-5")],
    "two lengths": [with_length(f"{len(BODY)}\r\ncontent-length: 5")],
    "another coding": [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n" + chunked(BODY)
    ],
    "too many headers": [b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 200 + b"\r\n"],
}
MALFORMED = {
    "NaN": BODY.replace(b'"dec_1"', b'NaN, "decisionId": "dec_1"'),
    "a byte order mark": b"\xef\xbb\xbf" + BODY,
    "no UTF-8": BODY.replace(b"Fine", b"\xff\xfe"),
    "too deep": b"[" * 100_000,
    "more behind it": BODY + b"x",
}


class Transport(unittest.TestCase):
    """Each test is made with both clients."""

    def serve(self, answer: Callable[[socket.socket, str], None]) -> ScriptedServer:
        server = ScriptedServer(answer)
        self.addCleanup(server.close)
        return server

    def assert_fails(self, code: str, url: str, **options: Any) -> GateError:
        for check in CHECKS:
            with self.subTest(check.__name__), self.assertRaises(GateError) as raised:
                check(url, **options)
            self.assertEqual(raised.exception.code, code)
        return raised.exception

    def test_an_answer_is_read_in_every_form(self) -> None:
        for name, parts in READ.items():
            server = self.serve(always(*parts))
            for check in CHECKS:
                with self.subTest(name, client=check.__name__):
                    self.assertEqual(check(server.url), DECISION)

    def test_what_is_no_http_is_not_reached(self) -> None:
        for name, parts in BROKEN.items():
            server = self.serve(always(*parts))
            with self.subTest(name):
                self.assert_fails("unreachable", server.url, retries=0)

    def test_what_is_no_json_is_malformed(self) -> None:
        for name, body in MALFORMED.items():
            server = self.serve(always(with_length(str(len(body)), body)))
            with self.subTest(name):
                self.assert_fails("malformed_answer", server.url)
                self.assertEqual(len(server.lines), len(CHECKS))

    def test_an_answer_of_more_than_64_mib_is_refused_before_it_is_read(self) -> None:
        server = self.serve(always(with_length(str(64 * 1024 * 1024 + 1), b"")))
        self.assert_fails("malformed_answer", server.url)

    def test_an_answer_that_grows_beyond_64_mib_is_refused(self) -> None:
        mib = b"100000\r\n" + b" " * 2**20 + b"\r\n"

        def answer(connection: socket.socket, _: str) -> None:
            connection.sendall(chunked(end=b""))
            for _i in range(66):
                connection.sendall(mib)

        server = self.serve(answer)
        self.assert_fails("malformed_answer", server.url)

    def test_a_head_or_a_line_without_end_is_not_read_on(self) -> None:
        for begin, part in [(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 1000), (b"", b"y" * 6000)]:

            def answer(
                connection: socket.socket, _: str, begin: bytes = begin, part: bytes = part
            ) -> None:
                connection.sendall(begin)
                while True:
                    connection.sendall(part)

            server = self.serve(answer)
            self.assert_fails("unreachable", server.url, retries=0)

    def test_a_byte_now_and_then_is_not_waited_for_longer_than_the_timeout(self) -> None:
        heads = [EACH_BYTE, [ALLOW.partition(b"\r\n\r\n")[0] + b"\r\n\r\n", *EACH_BYTE[40:]]]
        for parts in [*heads, [chunked(end=b""), *[b"1\r\n \r\n"] * 100]]:
            server = self.serve(always(*parts, pause=0.1))
            for check in CHECKS:
                server.gone.clear()
                with self.subTest(check.__name__), self.assertRaises(GateError) as raised:
                    check(server.url, timeout=0.5)
                self.assertEqual(raised.exception.code, "timeout")
                # The client left while the server had parts to send.
                self.assertTrue(server.gone.wait(HANGS))

    def test_who_does_not_read_a_large_request_is_not_waited_for(self) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        request: Any = {"action": "a.b", "context": {"text": "x" * 30_000_000}}
        with self.assertRaises(GateError) as raised:
            GateClient(**OPTIONS, base_url=url, timeout=0.5).decide(request)
        self.assertEqual(raised.exception.code, "timeout")
        gate = AsyncGateClient(**OPTIONS, base_url=url, timeout=0.5)
        with self.assertRaises(GateError) as raised:
            asyncio.run(gate.decide(request))
        self.assertEqual(raised.exception.code, "timeout")

    def test_a_name_that_is_looked_up_for_long_is_not_waited_for(self) -> None:
        url = "http://gate.invalid"

        asked, found = threading.Semaphore(0), threading.Event()

        def slowly(*_: Any, **__: Any) -> Any:
            asked.release()
            found.wait(HANGS)
            raise socket.gaierror("unknown")

        async def ask() -> None:
            with self.assertRaises(GateError) as raised:
                await AsyncGateClient(**OPTIONS, base_url=url, timeout=0.3).decide(REQUEST)
            self.assertEqual(raised.exception.code, "timeout")
            self.assertTrue(asked.acquire(timeout=HANGS))
            # asyncio waits for its threads when its loop ends.
            found.set()

        with mock.patch("socket.getaddrinfo", slowly):
            with self.assertRaises(GateError) as raised:
                check_blocking(url, timeout=0.3)
            self.assertEqual(raised.exception.code, "timeout")
            self.assertTrue(asked.acquire(timeout=HANGS))
            asyncio.run(ask())

    def test_the_next_address_of_a_name_is_tried(self) -> None:
        server = self.serve(allowing)
        for check in CHECKS:
            url = server.url.replace("127.0.0.1", "localhost")
            self.assertEqual(check(url)["decision"], "allow")

    def test_proxies_of_the_environment_are_not_used(self) -> None:
        server = self.serve(allowing)
        proxies = {name: "http://127.0.0.1:1" for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY")}
        with mock.patch.dict(os.environ, proxies):
            for check in CHECKS:
                self.assertEqual(check(server.url)["decision"], "allow")

    def test_nobody_is_followed_anywhere(self) -> None:
        other = self.serve(allowing)
        answer = f"HTTP/1.1 307 Go\r\nlocation: {other.url}/\r\ncontent-length: 0\r\n\r\n"
        server = self.serve(always(answer.encode()))
        self.assert_fails("malformed_answer", server.url)
        self.assertEqual(other.lines, [])

    def test_a_path_before_the_routes(self) -> None:
        server = self.serve(allowing)
        for base in ("/gate", "/gate/"):
            check_blocking(server.url + base)
        self.assertEqual(server.lines, ["POST /gate/gate/check HTTP/1.1"] * 2)

    def test_a_header_stays_one(self) -> None:
        server = self.serve(allowing)
        gate = GateClient(**OPTIONS, base_url=server.url)
        for key in ("x\r\nx-tenant-id: other", "x\nx", "\u00e9"):
            with self.assertRaises(GateError) as raised:
                gate.decide(REQUEST, idempotency_key=key)
            self.assertEqual(raised.exception.code, "invalid_request")
            with self.assertRaises(GateError):
                next(gate.events(last_event_id=key))
        self.assertEqual(server.lines, [])


@unittest.skipUnless(OPENSSL, "openssl is what makes the certificate")
class Tls(unittest.TestCase):
    """A gate behind TLS."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.certificate, key = f"{folder.name}/certificate.pem", f"{folder.name}/key.pem"
        make = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=gate"
        files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate]
        subprocess.run([str(OPENSSL), *make.split(), *files], check=True, capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.certificate, key)
        self.server = ScriptedServer(allowing, tls)
        self.addCleanup(self.server.close)

    def test_a_certificate_that_is_trusted(self) -> None:
        with mock.patch.dict(os.environ, SSL_CERT_FILE=self.certificate):
            for check in CHECKS:
                self.assertEqual(check(self.server.url)["decision"], "allow")

    def test_nothing_is_sent_to_whom_nobody_vouches_for(self) -> None:
        elsewhere = self.server.url.replace("127.0.0.1", "localhost")
        for url, trusted in ((self.server.url, ""), (elsewhere, self.certificate)):
            with mock.patch.dict(os.environ, {"SSL_CERT_FILE": trusted} if trusted else {}):
                for check in CHECKS:
                    with self.subTest(check.__name__), self.assertRaises(GateError) as raised:
                        check(url, retries=0)
                    self.assertEqual(raised.exception.code, "unreachable")
        self.assertEqual(self.server.lines, [])


class SyncCancel(unittest.TestCase):
    """Cancellation of a client that waits in a thread."""

    def test_an_answer_is_no_longer_waited_for(self) -> None:
        cancel = threading.Event()

        def answer(connection: socket.socket, _: str) -> None:
            cancel.set()
            server.wait_until_gone(connection)

        server = ScriptedServer(answer)
        self.addCleanup(server.close)
        gate = GateClient(**OPTIONS, base_url=server.url, timeout=1000)
        ran: list[int] = []
        with self.assertRaises(Cancelled):
            gate.guard(REQUEST, lambda: ran.append(1), cancel=cancel)
        self.assertTrue(server.gone.wait(HANGS))
        self.assertEqual(ran, [])

    def test_a_pause_before_the_next_try_is_no_longer_waited_for(self) -> None:
        head = b"HTTP/1.1 503 Busy\r\nretry-after: 600\r\ncontent-length: 0\r\n\r\n"
        body = b'{"success": false, "error": "overloaded", "message": "Later."}'
        answer = head.replace(b"length: 0", b"length: %d" % len(body)) + body
        server = ScriptedServer(always(answer))
        self.addCleanup(server.close)
        cancel = threading.Event()
        threading.Timer(0.2, cancel.set).start()
        gate = GateClient(**OPTIONS, base_url=server.url, timeout=1000)
        with self.assertRaises(Cancelled):
            gate.permit(REQUEST, cancel=cancel)

    def test_what_was_allowed_and_then_cancelled_does_not_run_and_is_on_record(self) -> None:
        cancel = threading.Event()

        class Request(dict):  # type: ignore[type-arg]
            """Request that cancels while its answer is checked to be about its action."""

            def get(self, name: str, default: Any = None) -> Any:
                cancel.set()
                return super().get(name, default)

        server = ScriptedServer(allowing)
        self.addCleanup(server.close)
        gate = GateClient(**OPTIONS, base_url=server.url)
        request: Any = Request(REQUEST)
        with self.assertRaises(Cancelled):
            gate.guard(request, lambda: self.fail("it ran"), cancel=cancel)
        self.assertEqual([body.get("status") for body in server.bodies], [None, "not_run"])

    def test_events_end(self) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
        event = b'id: 1-1\ndata: {"id": "aud_1"}\n\n'

        def answer(connection: socket.socket, _: str) -> None:
            connection.sendall(head + event)
            server.wait_until_gone(connection)

        server = ScriptedServer(answer)
        self.addCleanup(server.close)
        heard = threading.Event()
        stop = GateClient(**OPTIONS, base_url=server.url).on_event(lambda _: heard.set())
        self.assertTrue(heard.wait(HANGS))
        self.assertFalse(server.gone.is_set())
        stop()
        self.assertTrue(server.gone.wait(HANGS))
