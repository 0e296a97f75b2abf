"""Outgoing HTTP to addresses that a user may have written: no redirect, nothing private, bounded in time and size.

The name is resolved when the connection is made, every address is checked, and the checked address is the one that is
connected to: a name that answers differently the second time (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError

Reach = Literal["public", "any", "loopback"]
"""Where a request may go: the open internet, anywhere (an admin said so), or this machine only (scripted doubles)."""

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
class Limits:
    """How long we wait and how much we read. ``total_seconds`` holds from the connection to the end of the body."""

    connect_seconds: float = 5.0
    total_seconds: float = 10.0
    bytes: int = 65_536


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


def may_reach(address: Address, reach: Reach) -> bool:
    """Say whether ``address`` is within ``reach``."""
    if reach == "any":
        return True
    return address.is_loopback if reach == "loopback" else is_public(address)


def checked_addresses(host: str, port: int, *, reach: Reach) -> list[tuple[int, Any]]:
    """Resolve ``host``; give (family, socket address) of each address. One that is out of reach refuses them all.

    Raises RefusedAddress, or OSError when the name isn't known.
    """
    found: list[tuple[int, Any]] = []
    for family, _, _, _, sockaddr in socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM):
        address = ipaddress.ip_address(str(sockaddr[0]).partition("%")[0])
        if not may_reach(address, reach):
            raise RefusedAddress("the address is out of reach")
        found.append((family, sockaddr))
    return found


class GuardedSession(requests.Session):
    """A session that follows no redirect, reads no proxy or netrc from the environment and checks every address.

    ``cut`` ends it from any thread, whatever the other side is doing.
    """

    def __init__(self, *, reach: Reach) -> None:
        super().__init__()
        self.trust_env = False
        self.max_redirects = 0
        self.wires = _Wires()
        for scheme in ("http://", "https://"):
            self.mount(scheme, _GuardedAdapter(reach=reach, wires=self.wires))

    def resolve_redirects(self, *given: Any, **more: Any) -> Any:
        """Follow nothing, also when a caller forgets to say so."""
        return iter(())

    def cut(self) -> None:
        """End every connection at once."""
        self.wires.cut()

    def close(self) -> None:
        """Close the session and its connections."""
        super().close()
        self.wires.close()


class _Wires:
    """The connections of one session, so that a watchdog can cut them, TLS or not."""

    def __init__(self) -> None:
        self._wires: list[socket.socket] = []
        self._lock = threading.Lock()
        self.is_cut = False
        self.was_connected = False

    def add(self, wire: socket.socket) -> None:
        with self._lock:
            if self.is_cut:
                raise TimeoutError("too late")
            self.was_connected = True
            self._wires.append(wire.dup())

    def cut(self) -> None:
        with self._lock:
            self.is_cut = True
            for wire in self._wires:
                with contextlib.suppress(OSError):  # it has ended by itself
                    wire.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            for wire in self._wires:
                wire.close()
            self._wires.clear()


class _GuardedAdapter(HTTPAdapter):
    """Gives pools whose connections go to checked addresses only."""

    def __init__(self, *, reach: Reach, wires: _Wires) -> None:
        self.reach, self.wires = reach, wires
        super().__init__(max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        """Build the pools."""

        class Plain(HTTPConnection):
            def _new_conn(this) -> socket.socket:  # noqa: N805 - two selves
                return self.connect(this)

        class Secure(HTTPSConnection):
            def _new_conn(this) -> socket.socket:  # noqa: N805
                return self.connect(this)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure

        self.poolmanager = PoolManager(num_pools=connections, maxsize=maxsize, block=block, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}

    def connect(self, connection: HTTPConnection) -> socket.socket:
        """Connect to the first checked address that answers; the name is used for TLS and the Host header only."""
        timeout = connection.timeout if isinstance(connection.timeout, int | float) else None
        try:
            addresses = checked_addresses(connection.host, connection.port or 0, reach=self.reach)
        except (OSError, UnicodeError) as error:
            raise NewConnectionError(connection, "the name is not known") from error
        failure: OSError | None = None
        for family, sockaddr in addresses:
            wire = socket.socket(family, socket.SOCK_STREAM)
            wire.settimeout(timeout)
            try:
                wire.connect(sockaddr)
                self.wires.add(wire)
            except OSError as error:
                wire.close()
                failure = error
                continue
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return wire
        raise NewConnectionError(connection, "no connection") from failure


class _Unwatched(_Wires):
    """Wires that nobody cuts: the session closes them."""

    def add(self, wire: socket.socket) -> None:
        self.was_connected = True


def guarded_adapter(reach: Reach) -> HTTPAdapter:
    """Give an adapter for any session of requests whose connections go to checked addresses only.

    A connection out of reach raises RefusedAddress.
    """
    return _GuardedAdapter(reach=reach, wires=_Unwatched())


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    reach: Reach = "public",
    limits: Limits | None = None,
) -> Answer:
    """Ask once, within ``limits`` whatever the other side does.

    Raises RefusedAddress and NotAnswered. Neither names the URL: it may hold a secret.
    """
    limits = limits or Limits()
    session = GuardedSession(reach=reach)
    watchdog = threading.Timer(limits.total_seconds, session.cut)
    watchdog.daemon = True
    watchdog.start()
    try:
        prepared = session.prepare_request(requests.Request(method, url, headers=dict(headers or {}), data=body))
        return _ask(session, prepared, limits)
    except requests.RequestException as error:
        raise _not_answered(error, session.wires) from None
    finally:
        watchdog.cancel()
        session.close()


def _ask(session: GuardedSession, prepared: requests.PreparedRequest, limits: Limits) -> Answer:
    timeout = (limits.connect_seconds, limits.total_seconds)
    with session.send(prepared, timeout=timeout, allow_redirects=False, stream=True) as response:
        content = b""
        # The status is known by now, so a body that breaks off changes nothing.
        with contextlib.suppress(HTTPError, OSError):
            content = response.raw.read(limits.bytes, decode_content=True)
        return Answer(response.status_code, response.headers, content)


def _not_answered(error: requests.RequestException, wires: _Wires) -> NotAnswered:
    if wires.is_cut:
        return NotAnswered("timeout", was_sent=wires.was_connected)
    if isinstance(error, requests.exceptions.SSLError):
        return NotAnswered("tls_failed", was_sent=False)
    if isinstance(error, requests.ConnectTimeout):
        return NotAnswered("connect_timeout", was_sent=False)
    if isinstance(error, ValueError):  # requests' errors about the form of a URL
        return NotAnswered("bad_url", was_sent=False)
    if isinstance(error, requests.Timeout):
        return NotAnswered("timeout", was_sent=True)
    return NotAnswered("connection_lost" if wires.was_connected else "no_connection", was_sent=wires.was_connected)
