"""Outgoing HTTP reaches nothing that it should not, and ends in time."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from common.http import (
    GuardedSession,
    Limits,
    NotAnswered,
    RefusedAddress,
    checked_addresses,
    is_public,
    request,
)
from tests.support.scripted_http import Answer, ScriptedServer


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "255.255.255.255", "224.0.0.1", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1",
        "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1",
        "2002:7f00:1::", "2002:a00:1::1", "2001:db8::1", "2001:0:4136:e378:8000:63bf:80ff:fffe",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "017700000001", "127.1", "0", "localhost", "[::1]", "::ffff:127.0.0.1"],
)
def test_every_way_to_write_loopback_is_refused(host: str) -> None:
    with pytest.raises(RefusedAddress):
        checked_addresses(host, 80, reach="public")
    assert checked_addresses(host, 80, reach="any")


def test_a_url_with_a_private_address_is_not_called(scripted_http: ScriptedServer) -> None:
    for host in ("127.0.0.1", "2130706433", "localhost"):
        with pytest.raises(RefusedAddress):
            request("POST", scripted_http.url.replace("127.0.0.1", host), body=b"x")
    assert scripted_http.requests == []


def test_a_double_must_be_on_this_machine(monkeypatch: pytest.MonkeyPatch, scripted_http: ScriptedServer) -> None:
    scripted_http.answer(Answer(200, b"ok"))
    assert request("GET", scripted_http.url, reach="loopback").status == 200
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: [(socket.AF_INET, 1, 6, "", ("10.1.2.3", 80))])
    with pytest.raises(RefusedAddress):
        request("GET", "http://double.test/", reach="loopback")


def test_one_private_address_among_public_ones_refuses_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(socket.AF_INET, 1, 6, "", ("1.1.1.1", 80)), (socket.AF_INET, 1, 6, "", ("10.0.0.1", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: answers)
    with pytest.raises(RefusedAddress):
        request("GET", "http://both.test/")


def test_a_name_that_changes_its_address_gains_nothing(
    monkeypatch: pytest.MonkeyPatch, scripted_http: ScriptedServer
) -> None:
    """DNS rebinding: public when it is looked up first, loopback afterwards. There is only one look-up."""
    port = int(scripted_http.url.rpartition(":")[2])
    given = iter(["203.0.113.9", "127.0.0.1", "127.0.0.1"])
    asked: list[str] = []
    reached: list[Any] = []

    def lookup(host: str, *args: Any, **more: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(given), port))]

    def connect(self: socket.socket, address: Any) -> None:
        reached.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr("common.http.is_public", lambda address: str(address) == "203.0.113.9")
    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(NotAnswered, match="no_connection"):
        request("GET", f"http://rebind.test:{port}/")
    assert asked == ["rebind.test"]
    assert reached == [("203.0.113.9", port)]
    assert scripted_http.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(scripted_http: ScriptedServer, status: int) -> None:
    scripted_http.answer(Answer(status, b"", {"Location": "http://169.254.169.254/latest/meta-data/"}))
    assert request("GET", scripted_http.url, reach="any").status == status
    scripted_http.answer(Answer(status, b"", {"Location": scripted_http.url + "/second"}))
    assert GuardedSession(reach="any").get(scripted_http.url, timeout=5).status_code == status
    assert len(scripted_http.requests) == 2


def test_proxies_of_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch, scripted_http: ScriptedServer
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    scripted_http.answer(Answer(200, b"straight"))
    assert request("GET", scripted_http.url, reach="any").body == b"straight"


LIMITS = Limits(total_seconds=0.3, bytes=1000)


def late(answer: Answer, server: ScriptedServer) -> tuple[NotAnswered, float]:
    server.answer(answer)
    began = time.monotonic()
    with pytest.raises(NotAnswered) as error:
        request("POST", server.url, body=b"x", reach="any", limits=LIMITS)
    return error.value, time.monotonic() - began


def test_no_answer_in_time(scripted_http: ScriptedServer) -> None:
    error, seconds = late(Answer(200, b"ok", delay_seconds=20), scripted_http)
    assert (error.reason, error.was_sent) == ("timeout", True)
    assert seconds < 2


def test_closed_without_a_word(scripted_http: ScriptedServer) -> None:
    error, _ = late(Answer(drops=True), scripted_http)
    assert (error.reason, error.was_sent) == ("connection_lost", True)


def test_a_head_that_drips_is_cut(dripping_server: str) -> None:
    """Each byte comes in time, the whole never: only a limit on the total ends it."""
    began = time.monotonic()
    with pytest.raises(NotAnswered, match="timeout"):
        request("POST", dripping_server, body=b"x", reach="any", limits=LIMITS)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("answer", [Answer(200, b"a" * 50, byte_delay_seconds=0.1), Answer(200, b"abc", is_cut=True)])
def test_a_body_that_breaks_off_leaves_the_status(scripted_http: ScriptedServer, answer: Answer) -> None:
    scripted_http.answer(answer)
    assert request("POST", scripted_http.url, body=b"x", reach="any", limits=LIMITS).status == 200


def test_an_endless_body_is_read_up_to_the_limit(scripted_http: ScriptedServer) -> None:
    scripted_http.answer(Answer(200, b"z" * 1000, is_endless=True))
    assert request("GET", scripted_http.url, reach="any", limits=LIMITS).body == b"z" * 1000


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(NotAnswered) as error:
            request("GET", f"http://127.0.0.1:{taken.getsockname()[1]}/", reach="any")
    assert (error.value.reason, error.value.was_sent) == ("no_connection", False)


@pytest.mark.parametrize("url", ["ftp://1.1.1.1/", "nothing", "http://", "http://[::1", "file:///etc/passwd"])
def test_bad_urls(url: str) -> None:
    with pytest.raises(NotAnswered) as error:
        request("GET", url)
    assert (error.value.reason, error.value.was_sent) == ("bad_url", False)


def test_errors_do_not_repeat_the_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(NotAnswered) as error:
            request("GET", f"http://127.0.0.1:{taken.getsockname()[1]}/services/T0/SECRET", reach="any")
    assert "SECRET" not in repr(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__


def test_plain_http_to_a_tls_port_and_back(scripted_http: ScriptedServer) -> None:
    with pytest.raises(NotAnswered) as error:
        request("GET", scripted_http.url.replace("http://", "https://"), reach="any", limits=LIMITS)
    assert (error.value.reason, error.value.was_sent) == ("tls_failed", False)


@pytest.fixture
def dripping_server() -> Iterator[str]:
    """Give the address of a server that answers one byte of its head every 50 ms, for ever."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        done = threading.Event()

        def drip() -> None:
            wire, _ = server.accept()
            with wire:
                wire.recv(1000)
                while not done.wait(0.05):
                    try:
                        wire.send(b"H")
                    except OSError:
                        return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        done.set()
        thread.join(2)


def test_the_session_is_a_requests_session(scripted_http: ScriptedServer) -> None:
    scripted_http.answer(Answer(200, b"1"), Answer(200, b"2"))
    with GuardedSession(reach="any") as session:
        bodies = [session.get(scripted_http.url, timeout=5).content for _ in range(2)]
    assert bodies == [b"1", b"2"]
    with pytest.raises(RefusedAddress), GuardedSession(reach="public") as session:
        session.get(scripted_http.url, timeout=5)
    assert issubclass(GuardedSession, requests.Session)
