"""Ticks at given times deliver at a channel's pace, whatever lies between them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from alerts.actions.alerts import raise_alerts
from alerts.domain.occurrence import Occurrence
from common.periods import iso, parse_moment
from tests.support.doors import door
from tests.support.scripted_http import Answer, ScriptedServer

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_backlog_leaves_between_two_ticks(
    scripted_http: ScriptedServer, declare: Callable[..., None], occurrence: Callable[..., Occurrence], now: datetime
) -> None:
    scripted_http.default = Answer(200, b"ok")
    declare({"slack": ("slack_webhook", {"url": scripted_http.url, "test": True})}, ({}, ["slack"], []))
    raise_alerts([occurrence(subject=f"i-{number}") for number in range(8)], now=now)
    first = door("tick", "--at", iso(now), "--effects", "real")
    second = door("tick", "--at", iso(now + timedelta(minutes=5)), "--effects", "real")
    assert (first["messages"], second["messages"]) == (1, 7)
    times = [parse_moment(request.headers["Fleetledger-At"]) for request in scripted_http.requests]
    assert times == [now + timedelta(seconds=second) for second in range(8)]
