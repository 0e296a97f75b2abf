"""Outgoing HTTP to addresses that a user may have written: no redirects, no private addresses, bounded in time and size.

The name is resolved when the connection is made, every address is checked, and the checked address is the one that is
connected to: a name that answers differently the second time (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class RefusedAddress(Exception):
    """The host is, or resolves to, an address that may not be reached from here."""


class NotAnswered(Exception):
    """No complete answer. ``reason`` is one of our words; ``was_sent``: the request may have reached the other side."""

    def __init__(self, reason: str, *, was_sent: bool) -> None:
        super().__init__(reason)
        self.reason, self.was_sent = reason, was_sent


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; ``body`` is cut at the limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def is_public(address: Address) -> bool:
    """Say whether ``address`` lies in the open internet, looking through every form that embeds an IPv4 address."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is None and address.teredo:
            inner = address.teredo[1]
        if inner is not None:
            return is_public(inner)
        if int(address) >> 32 == 0:  # ::a.b.c.d, long deprecated
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def checked_addresses(host: str, port: int, *, allow_private: bool) -> list[tuple[int, Any]]:
    """Resolve ``host``; give (family, socket address) of each address. One that isn't public refuses them all.

    Raises RefusedAddress, or OSError when the name isn't known.
    """
    found: list[tuple[int, Any]] = []
    for family, _, _, _, sockaddr in socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM):
        address = ipaddress.ip_address(str(sockaddr[0]).partition("%")[0])
        if not (allow_private or is_public(address)):
            raise RefusedAddress("the address is private")
        found.append((family, sockaddr))
    return found


class GuardedSession(requests.Session):
    """A session that follows no redirect, reads no proxy or netrc from the environment and checks every address."""

    def __init__(self, *, allow_private: bool) -> None:
        super().__init__()
        self.trust_env = False
        self.max_redirects = 0
        self.wires: list[socket.socket] = []
        for scheme in ("http://", "https://"):
            self.mount(scheme, _GuardedAdapter(allow_private=allow_private, wires=self.wires))

    def rebuild_method(self, prepared_request: Any, response: Any) -> None:
        """Refuse: nothing of ours follows a redirect."""
        raise requests.TooManyRedirects("redirects are off", response=response)

    def cut(self) -> None:
        """End every connection at once, from any thread."""
        for wire in self.wires:
            try:
                wire.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended by itself

    def close(self) -> None:
        """Close the session and its connections."""
        super().close()
        for wire in self.wires:
            wire.close()
        self.wires.clear()


class _GuardedAdapter(HTTPAdapter):
    """Gives pools whose connections go to checked addresses only."""

    def __init__(self, *, allow_private: bool, wires: list[socket.socket]) -> None:
        self.allow_private, self.wires = allow_private, wires
        super().__init__(max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        """Build the pools."""
        allow_private, wires = self.allow_private, self.wires

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return _connect(self, allow_private=allow_private, wires=wires)

        class Secure(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return _connect(self, allow_private=allow_private, wires=wires)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure

        self.poolmanager = PoolManager(num_pools=connections, maxsize=maxsize, block=block, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}


def _connect(connection: HTTPConnection, *, allow_private: bool, wires: list[socket.socket]) -> socket.socket:
    """Connect to the first checked address that answers; the name is used for TLS and the Host header only."""
    timeout = connection.timeout if isinstance(connection.timeout, int | float) else None
    try:
        addresses = checked_addresses(connection.host, connection.port, allow_private=allow_private)
    except (OSError, UnicodeError) as error:
        raise NewConnectionError(connection, "the name is not known") from error
    failure: OSError | None = None
    for family, sockaddr in addresses:
        wire = socket.socket(family, socket.SOCK_STREAM)
        wire.settimeout(timeout)
        try:
            wire.connect(sockaddr)
        except OSError as error:
            wire.close()
            failure = error
            continue
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wires.append(wire.dup())  # so that a watchdog can cut it, TLS or not
        return wire
    raise NewConnectionError(connection, "no connection") from failure


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    allow_private: bool = False,
    connect_seconds: float = 5.0,
    total_seconds: float = 10.0,
    max_bytes: int = 65_536,
) -> Answer:
    """Ask once and read at most ``max_bytes`` in at most ``total_seconds``, whatever the other side does.

    Raises RefusedAddress and NotAnswered. Neither names the URL: it may hold a secret.
    """
    session = GuardedSession(allow_private=allow_private)
    is_late = threading.Event()

    def cut() -> None:
        is_late.set()
        session.cut()

    watchdog = threading.Timer(total_seconds, cut)
    watchdog.daemon = True
    watchdog.start()
    try:
        return _ask(session, method, url, headers, body, (connect_seconds, total_seconds), max_bytes)
    except RefusedAddress:
        raise
    except requests.RequestException as error:
        if is_late.is_set():
            raise NotAnswered("timeout", was_sent=bool(session.wires)) from None
        raise _not_answered(error, was_connected=bool(session.wires)) from None
    finally:
        watchdog.cancel()
        session.close()


def _ask(
    session: GuardedSession, method: str, url: str, headers: Mapping[str, str] | None, body: bytes | None,
    timeout: tuple[float, float], max_bytes: int,
) -> Answer:  # fmt: skip
    with session.request(
        method, url, headers=dict(headers or {}), data=body, timeout=timeout, allow_redirects=False, stream=True
    ) as response:
        try:
            content = response.raw.read(max_bytes, decode_content=True) if max_bytes else b""
        except Exception:  # the status is known, so a body that breaks off changes nothing
            content = b""
        return Answer(response.status_code, response.headers, content)


def _not_answered(error: requests.RequestException, *, was_connected: bool) -> NotAnswered:
    if isinstance(error, requests.exceptions.SSLError):
        return NotAnswered("tls_failed", was_sent=False)
    if isinstance(error, requests.ConnectTimeout):
        return NotAnswered("connect_timeout", was_sent=False)
    if isinstance(
        error, requests.exceptions.MissingSchema | requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL
    ):
        return NotAnswered("bad_url", was_sent=False)
    if isinstance(error, requests.Timeout):
        return NotAnswered("timeout", was_sent=True)
    return NotAnswered("connection_lost" if was_connected else "no_connection", was_sent=was_connected)
