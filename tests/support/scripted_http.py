"""An HTTP server on loopback that answers as a test says and records what it was asked."""

from __future__ import annotations

import json
import ssl
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    """What was asked. ``path`` has no query; ``query`` and ``form`` map a name to its values."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, list[str]]:
        """Give the fields of a urlencoded body."""
        return parse_qs(self.body.decode())

    def json(self) -> Any:
        """Give the parsed JSON body."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """What to answer. ``delay_seconds`` before the head, ``byte_delay_seconds`` between chunks; ``is_endless`` repeats
    the body until the client goes; ``is_cut`` promises more bytes than it sends; ``drops`` closes without a word.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_seconds: float = 0
    byte_delay_seconds: float = 0
    is_endless: bool = False
    is_cut: bool = False
    drops: bool = False


def json_answer(value: Any, status: int = 200, **more: Any) -> Answer:
    """Give an answer that holds ``value`` as JSON."""
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json"}, **more)


class ScriptedServer:
    """Answers come from ``script`` (one per request, in order); when it is empty from ``respond``, else ``default``."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.script: deque[Answer] = deque()
        self.respond: Callable[[Request], Answer] | None = None
        self.default = Answer(404, b"nothing was scripted")
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._scheme = "http" if tls is None else "https"
        if tls is not None:  # the handshake is the handler's: one that fails must not stop the server
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Give the address, without a slash at its end."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, *answers: Answer) -> None:
        """Append to the script."""
        self.script.extend(answers)

    def take(self, request: Request) -> Answer:
        """Record the request and give its answer."""
        with self._lock:
            self.requests.append(request)
            if self.script:
                return self.script.popleft()
        return self.respond(request) if self.respond else self.default

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(owner: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            query = parse_qs(parts.query, keep_blank_values=True)
            answer = owner.take(Request(self.command, parts.path, query, dict(self.headers.items()), body))
            owner.closing.wait(answer.delay_seconds)
            try:
                self.give(answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any

        def give(self, answer: Answer) -> None:
            if answer.drops:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.is_endless or answer.is_cut:
                self.close_connection = True
            if answer.is_cut:
                self.send_header("Content-Length", str(len(answer.body) + 1000))
            elif not answer.is_endless:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.send_body(answer)

        def send_body(self, answer: Answer) -> None:
            if self.command == "HEAD":
                return
            if answer.byte_delay_seconds:
                for byte in answer.body:
                    self.wfile.write(bytes([byte]))
                    owner.closing.wait(answer.byte_delay_seconds)
                return
            self.wfile.write(answer.body)
            while answer.is_endless and not owner.closing.is_set():
                self.wfile.write(answer.body or b" " * 65536)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
            """Stay silent."""

    return Handler
