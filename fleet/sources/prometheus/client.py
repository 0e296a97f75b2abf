"""The HTTP API through prometheus-api-client's session.

Whole body, own timeouts, bounded size, errors with a remedy.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from urllib.parse import urlsplit

import requests
from prometheus_api_client import PrometheusConnect
from urllib3.util.retry import Retry

from common.http import RefusedAddress, guarded_adapter
from fleet.sources.prometheus import failures
from fleet.sources.prometheus.access import Access
from fleet.sources.prometheus.answers import Body, read_document

CONNECT_SECONDS, READ_SECONDS, SERVER_TIMEOUT = 3.05, 30.0, "25s"
MAX_BODY_BYTES = 128 * 2**20
MAX_ATTEMPTS = 3
MAX_WAIT_SECONDS = 30.0
_CHUNK = 2**18


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


class PrometheusClient:
    """Asks one source. Safe to use from two threads."""

    def __init__(
        self,
        url: str,
        access: Access | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        pause: Callable[[float], None] = _pause,
        public_only: bool = False,
        read_seconds: float = READ_SECONDS,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self.url = url.rstrip("/")
        self.shown_url = re.sub(r"//[^/@]*@", "//", self.url)  # a name and password in it are told to nobody
        access = access or Access()
        session = requests.Session()
        session.trust_env = False  # no proxies or .netrc from the environment of the worker
        session.verify, session.cert = access.verify, access.cert
        session.auth = access.basic
        session.headers.update({"User-Agent": "fleetledger", **access.headers, **(headers or {})})
        if urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1"):
            session.headers["Accept-Encoding"] = "identity"  # compressing for loopback costs more than it saves
        # The library mounts the session's adapter; retries are ours, because its own lose the body of the last answer.
        self._connect = PrometheusConnect(url=self.url, session=session, retry=Retry(total=0, read=False), timeout=None)
        self._session: requests.Session = self._connect._session
        if public_only:  # a page wrote the address, and nobody allowed private ones
            self._session.adapters.clear()
            self._session.mount("http", guarded_adapter("public"))
        self._pause = pause
        self._read_seconds = read_seconds
        self._max_body_bytes = max_body_bytes
        self._is_post_refused = False

    def close(self) -> None:
        """Give the connections back."""
        self._session.close()

    def query(self, promql: str, at: float) -> Body:
        """Evaluate at one instant."""
        return self._ask("query", {"query": promql, "time": _stamp(at), "timeout": SERVER_TIMEOUT})

    def query_range(self, promql: str, first: float, last: float, step: int) -> Body:
        """Evaluate at first, first + step, ... last."""
        times = {"start": _stamp(first), "end": _stamp(last), "step": str(step)}
        return self._ask("query_range", {"query": promql, "timeout": SERVER_TIMEOUT, "nocache": "1", **times})

    def metric_names(self, first: float, last: float) -> set[str]:
        """Give the metric names that the source has in a time range."""
        window = {"start": _stamp(first), "end": _stamp(last)}
        body = self._ask("label/__name__/values", window, is_get=True)
        names = body.data if body.data is not None else []
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise failures.not_json(body.content or b"no names", self.shown_url)
        return set(names)

    def _ask(self, path: str, parameters: dict[str, str], *, is_get: bool = False) -> Body:
        """Ask, again after a transient failure; the waits are bounded."""
        attempt = 1
        while True:
            try:
                return self._ask_once(path, parameters, is_get=is_get)
            except failures.Transient as failure:
                if attempt == MAX_ATTEMPTS:
                    raise failure.error from None
                self._pause(min(failure.wait_seconds or 2.0 ** (attempt - 1), MAX_WAIT_SECONDS))
                attempt += 1

    def _ask_once(self, path: str, parameters: dict[str, str], *, is_get: bool) -> Body:
        by_get = is_get or self._is_post_refused
        started = monotonic()
        try:
            with self._session.request(
                "GET" if by_get else "POST",
                f"{self.url}/api/v1/{path}",
                params=parameters if by_get else None,
                data=None if by_get else parameters,
                timeout=(CONNECT_SECONDS, self._read_seconds),
                allow_redirects=False,
                stream=True,
            ) as answer:
                if answer.status_code in (405, 501) and not by_get:
                    self._is_post_refused = True
                    return self._ask_once(path, parameters, is_get=True)
                content = self._read(answer, started)
        except RefusedAddress:
            raise failures.private_address(self.shown_url) from None
        except requests.RequestException as error:
            raise failures.of_connection(error, self.shown_url) from error
        return _parse(answer, content, self.shown_url)

    def _read(self, answer: requests.Response, started: float) -> bytes:
        """Read the body with a bound on its size and its time: an endless one must not fill the memory.

        One that trickles is hung up on from outside: between two of its bytes no timeout of the socket passes.
        """
        parts: list[bytes] = []
        size = 0
        hanging_up = threading.Event()
        watchdog = threading.Timer(started + 2 * self._read_seconds - monotonic(), _hang_up, (answer, hanging_up))
        watchdog.daemon = True
        watchdog.start()
        try:
            for part in answer.iter_content(_CHUNK):
                size += len(part)
                if size > self._max_body_bytes:
                    raise failures.too_big(self.shown_url, self._max_body_bytes)
                parts.append(part)
        except (requests.RequestException, OSError, ValueError):
            if not hanging_up.is_set():
                raise
        finally:
            watchdog.cancel()
        if hanging_up.is_set():
            raise failures.timed_out(self.shown_url)
        return b"".join(parts)


def _hang_up(answer: requests.Response, hanging_up: threading.Event) -> None:
    """End an answer that another thread is reading."""
    hanging_up.set()
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # it has ended by itself
        answer.raw.shutdown()


def _stamp(at: float) -> str:
    return f"{at:.3f}".rstrip("0").rstrip(".")


def _parse(answer: requests.Response, content: bytes, url: str) -> Body:
    found = read_document(content)
    if found is None:
        raise failures.of_status(answer, content, None, url)
    document, begin, end = found
    if answer.status_code != 200 or document["status"] != "success":
        raise failures.of_status(answer, content, document, url)
    return Body(document, url, content if end else b"", begin, end)
