"""Real processes that die, or work side by side, while messages leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from alerts.actions.alerts import raise_alerts
from alerts.actions.deliver import deliver
from alerts.domain.occurrence import Occurrence
from alerts.models import Channel, Route
from alerts.queries import deliveries_document
from common.effects import Effects
from tests.support.scripted_http import Answer, ScriptedServer

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

NOW = datetime(2025, 6, 3, 12, tzinfo=UTC)
FAR = Effects("real", far_from_clock=True)
SENDER = """
import django, os, signal, sys
from datetime import datetime
django.setup()
from alerts.actions import deliver as sending
from common.effects import Effects
if sys.argv[1] == "dies":
    sending.record = lambda *args, **more: os.kill(os.getpid(), signal.SIGKILL)
sending.deliver(now=datetime.fromisoformat("2025-06-03T12:00:00+00:00"), effects=Effects("real", far_from_clock=True))
"""


def start(how: str) -> subprocess.Popen[bytes]:
    """Start a process that delivers into this test's database."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    url = urlunsplit(parts._replace(path=f"/{connection.settings_dict['NAME']}"))
    environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
    return subprocess.Popen([sys.executable, "-c", SENDER, how], env=environment)


@pytest.fixture
def server(scripted_http: ScriptedServer) -> ScriptedServer:
    scripted_http.default = Answer(200, b"ok", delay_seconds=0.02)
    Channel.objects.create(name="hook", kind="webhook", spec={"url": scripted_http.url, "test": True})
    Route.objects.create(position=0, match={}, channels=["hook"])
    return scripted_http


def alert(count: int) -> None:
    occurrences = [
        Occurrence(
            rule="idle", kind="idle", subject_kind="instance", subject=f"i-{number}", account="lab", team_id=None,
            owner="", episode="1",
        )
        for number in range(count)
    ]  # fmt: skip
    assert raise_alerts(occurrences, now=NOW) == count


def keys(server: ScriptedServer) -> list[Any]:
    return [request.headers["Idempotency-Key"] for request in server.requests]


def test_killed_between_send_and_record(server: ScriptedServer) -> None:
    alert(3)
    assert start("dies").wait(30) == -signal.SIGKILL
    assert len(server.requests) == 1
    assert [row["state"] for row in deliveries_document()] == ["waiting"] * 3

    assert deliver(now=NOW + timedelta(minutes=1), effects=FAR).sent == 2
    assert deliver(now=NOW + timedelta(minutes=2), effects=FAR).sent == 1
    assert deliver(now=NOW + timedelta(hours=1), effects=FAR).sent == 0

    rows = deliveries_document()
    assert [row["state"] for row in rows] == ["sent"] * 3
    assert sorted(row["doubles"] for row in rows) == [0, 0, 1]
    assert len(server.requests) == 4
    assert len(set(keys(server))) == 3


def test_two_senders_at_once_send_each_message_once(server: ScriptedServer) -> None:
    alert(40)
    senders = [start("lives"), start("lives")]
    assert [sender.wait(60) for sender in senders] == [0, 0]
    assert len(keys(server)) == len(set(keys(server))) == 40
    assert {row["state"] for row in deliveries_document()} == {"sent"}
    assert {row["doubles"] for row in deliveries_document()} == {0}
