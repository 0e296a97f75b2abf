"""A real Redis on loopback, without persistence."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.processes import free_port, require_program, running, wait_until


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Start Redis with its log in ``folder``; give its URL; end it."""
    program, port = require_program("redis-server"), free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    with running([program, *options], log=folder / "redis.log"):
        wait_until(lambda: _answers(port), seconds=10, what="Redis")
        yield f"redis://127.0.0.1:{port}/0"


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as sock:
            sock.sendall(b"PING\r\n")
            return sock.recv(16).startswith(b"+PONG")
    except OSError:
        return False
