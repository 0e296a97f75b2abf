"""The shared fixtures do what they say: the outside world in tests is the real one, or one that records."""

from __future__ import annotations

import json
import smtplib
import time
import urllib.request

import pytest
import pytest_socket
import redis

from tests.support.prometheus import PrometheusStarter
from tests.support.scripted_http import Answer, ScriptedServer, json_answer
from tests.support.smtp import SmtpSink


def get(url: str, timeout: float = 5) -> bytes:
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        body: bytes = answer.read()
    return body


def test_only_loopback_is_open() -> None:
    with pytest.raises(pytest_socket.SocketConnectBlockedError):
        urllib.request.urlopen("http://192.0.2.1/")


@pytest.mark.django_db
def test_database_is_postgresql_without_leftovers() -> None:
    from django.db import connection

    assert connection.vendor == "postgresql"
    assert connection.settings_dict["NAME"].startswith("test_")


@pytest.mark.slow
def test_prometheus_serves_a_backfilled_history(prometheus: PrometheusStarter) -> None:
    url = prometheus.backfilled('# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu="0"} 7 1748908800\n')
    found = json.loads(get(f"{url}/api/v1/query?query=DCGM_FI_DEV_GPU_UTIL&time=1748908800"))
    assert found["data"]["result"][0]["value"] == [1748908800, "7"]


@pytest.mark.slow
def test_prometheus_scrapes_our_exporter(prometheus: PrometheusStarter) -> None:
    url, target = prometheus.scraping(lambda: 'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 42\n')
    deadline = time.monotonic() + 20
    while not (result := json.loads(get(f"{url}/api/v1/query?query=DCGM_FI_DEV_GPU_UTIL"))["data"]["result"]):
        assert time.monotonic() < deadline
    assert result[0]["metric"]["instance"] == target
    assert result[0]["value"][1] == "42"


def test_redis_answers(redis_url: str) -> None:
    assert redis.Redis.from_url(redis_url).ping() is True


def test_smtp_sink_keeps_and_refuses(smtp_sink: SmtpSink) -> None:
    with smtplib.SMTP("127.0.0.1", smtp_sink.port) as client:
        client.sendmail("a@example.com", ["b@example.com"], "Subject: idle\r\n\r\n8 x H100\r\n")
        smtp_sink.refuse_with = "451 later"
        with pytest.raises(smtplib.SMTPDataError):
            client.sendmail("a@example.com", ["b@example.com"], "Subject: x\r\n\r\n")
    assert [message["Subject"] for message in smtp_sink.messages] == ["idle"]
    assert smtp_sink.recipients == [["b@example.com"]]


def test_scripted_server_follows_its_script_and_records(scripted_http: ScriptedServer) -> None:
    scripted_http.answer(json_answer({"ok": True}), Answer(503))
    assert json.loads(get(f"{scripted_http.url}/hook?a=1")) == {"ok": True}
    with pytest.raises(urllib.error.HTTPError, match="503"):
        get(f"{scripted_http.url}/hook")
    assert [(one.method, one.path, one.query) for one in scripted_http.requests] == [
        ("GET", "/hook", {"a": ["1"]}),
        ("GET", "/hook", {}),
    ]


def test_scripted_server_is_slow_and_endless_when_told(scripted_http: ScriptedServer) -> None:
    scripted_http.answer(Answer(200, b"late", delay_seconds=5), Answer(200, b"x" * 1000, is_endless=True))
    with pytest.raises(TimeoutError):
        get(scripted_http.url, timeout=0.2)
    with urllib.request.urlopen(scripted_http.url, timeout=5) as answer:
        assert len(answer.read(1_000_000)) == 1_000_000
