"""A claim makes a send single; a dead claimer's message is sent again, once, and counted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from alerts.actions.alerts import raise_alerts
from alerts.actions.claims import claim_next, record
from alerts.actions.deliver import deliver
from alerts.domain.occurrence import Occurrence
from alerts.domain.ports import Accepted, ChannelError
from alerts.models import Channel, Delivery
from alerts.queries import deliveries_document, next_due
from common.effects import Effects
from tests.support.scripted_http import Answer, ScriptedServer

pytestmark = pytest.mark.django_db
FAR = Effects("real", far_from_clock=True)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def channel(
    scripted_http: ScriptedServer, declare: Callable[..., None], occurrence: Callable[..., Occurrence], now: datetime
) -> Channel:
    scripted_http.default = Answer(200, b"ok")
    declare({"hook": ("webhook", {"url": scripted_http.url, "test": True})}, ({}, ["hook"], []))
    raise_alerts([occurrence()], now=now)
    return Channel.objects.get()


def test_a_claimed_delivery_is_nobody_elses(channel: Channel, scripted_http: ScriptedServer, now: datetime) -> None:
    assert claim_next(channel, seconds_between=0, at=now) is not None
    assert claim_next(channel, seconds_between=0, at=now) is None
    assert deliver(now=now + MINUTE, effects=FAR).sent == 0
    assert scripted_http.requests == []
    assert next_due(after=now) == now + 2 * MINUTE


def test_the_claim_of_a_dead_process_is_taken_over_and_counted(
    channel: Channel, scripted_http: ScriptedServer, now: datetime
) -> None:
    claim_next(channel, seconds_between=0, at=now)
    assert deliver(now=now + 2 * MINUTE, effects=FAR).sent == 1
    [row] = deliveries_document()
    assert (row["state"], row["doubles"]) == ("sent", 1)
    assert [(one["at"], one["outcome"], one["detail"]) for one in row["attempts"]] == [
        ("2025-06-03T12:00:00Z", "unknown", "process_died"), ("2025-06-03T12:02:00Z", "accepted", None),
    ]  # fmt: skip
    assert len(scripted_http.requests) == 1
    assert deliver(now=now + 10 * MINUTE, effects=FAR).sent == 0


def test_a_late_result_changes_nothing_but_is_counted(channel: Channel, now: datetime) -> None:
    late = claim_next(channel, seconds_between=0, at=now)
    taken = claim_next(channel, seconds_between=0, at=now + 2 * MINUTE)
    assert late is not None
    assert taken is not None
    record(late, ChannelError("timeout", unknown=True), at=now + 3 * MINUTE)
    assert Delivery.objects.get().claim == taken.token
    record(taken, Accepted(200), at=now + 3 * MINUTE)
    record(late, Accepted(200), at=now + 4 * MINUTE)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.delivered_at, delivery.doubles) == ("sent", now + 3 * MINUTE, 2)


def test_a_slot_is_taken_with_the_claim(channel: Channel, occurrence: Callable[..., Occurrence], now: datetime) -> None:
    raise_alerts([occurrence(subject="i-2")], now=now)
    assert claim_next(channel, seconds_between=1, at=now) is not None
    assert claim_next(channel, seconds_between=1, at=now) is None
    assert claim_next(channel, seconds_between=1, at=now + timedelta(seconds=1)) is not None
