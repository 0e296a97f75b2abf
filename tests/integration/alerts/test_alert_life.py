"""An alert opens once, resolves once, and comes back without a second message."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from alerts.actions.alerts import raise_alerts, resolve_alerts
from alerts.actions.deliver import deliver
from alerts.domain.occurrence import Occurrence
from alerts.models import Alert, Message
from alerts.queries import alerts_document, deliveries_document
from common.effects import SIMULATED

pytestmark = pytest.mark.django_db
Make = Callable[..., Occurrence]
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _mail(declare: Callable[..., None]) -> None:
    declare({"mail": ("email", {"to": ["ops@example.com"]})}, ({}, ["mail"], []))


def test_opened_once(occurrence: Make, now: datetime) -> None:
    assert raise_alerts([occurrence(), occurrence(), occurrence(subject="i-2")], now=now) == 2
    assert raise_alerts([occurrence()], now=now + HOUR) == 0
    first, second = alerts_document()
    assert first == {
        "id": first["id"], "rule": "idle", "kind": "idle",
        "subject": {"kind": "instance", "id": "i-1", "account": "lab"}, "team": None,
        "episode": "2025-06-03T11:00:00Z", "state": "open", "threshold": None,
        "opened_at": "2025-06-03T12:00:00Z", "resolved_at": None, "reopened": 0, "notices": 1,
    }  # fmt: skip
    assert second["subject"]["id"] == "i-2"


def test_the_same_subject_in_another_account_is_another(occurrence: Make, now: datetime) -> None:
    assert raise_alerts([occurrence(), occurrence(account="other")], now=now) == 2


def test_another_episode_waits_until_the_first_is_over(occurrence: Make, now: datetime) -> None:
    raise_alerts([occurrence()], now=now)
    assert raise_alerts([occurrence(episode="2025-06-03T11:30:00Z")], now=now) == 0
    assert resolve_alerts(rule="idle", subject_kind="instance", subjects=["i-1"], account="lab", now=now + HOUR) == 1
    assert raise_alerts([occurrence(episode="2025-06-03T13:30:00Z")], now=now + 2 * HOUR) == 1
    assert [(row["state"], row["resolved_at"], row["notices"]) for row in alerts_document()] == [
        ("resolved", "2025-06-03T13:00:00Z", 1), ("open", None, 1),
    ]  # fmt: skip


def test_reopened_within_the_episode_is_not_told_again(occurrence: Make, now: datetime) -> None:
    raise_alerts([occurrence()], now=now)
    resolve_alerts(rule="idle", subject_kind="instance", subjects=["i-1"], account="lab", now=now)
    assert raise_alerts([occurrence(facts={"minutes": 90})], now=now + HOUR) == 0
    [row] = alerts_document()
    assert (row["state"], row["reopened"], row["resolved_at"], row["notices"]) == ("open", 1, None, 1)
    assert Alert.objects.get().facts == {"minutes": 90}


def test_resolving_is_exact_and_silent(occurrence: Make, now: datetime) -> None:
    raise_alerts([occurrence(), occurrence(subject="i-2"), occurrence(rule="gpu_lost", kind="gpu_lost")], now=now)
    assert resolve_alerts(rule="idle", subject_kind="instance", subjects=["i-1"], now=now) == 0  # no account is another
    assert (
        resolve_alerts(rule="idle", subject_kind="instance", subjects=["i-1"], account="lab", episode="x", now=now) == 0
    )
    assert resolve_alerts(rule="idle", subject_kind="instance", subjects=["i-1"], account="lab", now=now) == 1
    assert resolve_alerts(rule="idle", subject_kind="instance", subjects=["i-1"], account="lab", now=now) == 0
    assert [row["state"] for row in alerts_document()] == ["resolved", "open", "open"]
    assert Message.objects.count() == 3


def source_fails(occurrence: Make, now: datetime) -> int:
    one = occurrence(rule="source", kind="source", subject_kind="source", subject="main", account="", owner="",
                     episode=now.isoformat())  # fmt: skip
    return raise_alerts([one], now=now)


def test_a_source_is_told_once_and_once_more_when_it_is_back(occurrence: Make, now: datetime) -> None:
    assert [source_fails(occurrence, now + timedelta(minutes=5 * step)) for step in range(4)] == [1, 0, 0, 0]
    deliver(now=now, effects=SIMULATED)
    later = now + HOUR
    assert resolve_alerts(rule="source", subject_kind="source", subjects=["main"], now=later) == 1
    assert resolve_alerts(rule="source", subject_kind="source", subjects=["main"], now=later) == 0
    assert deliver(now=later, effects=SIMULATED).messages == 1
    assert [(row["kind"], row["to"], row["state"], row["delivered_at"]) for row in deliveries_document()] == [
        ("alert", "ops@example.com", "simulated", "2025-06-03T12:00:00Z"),
        ("resolved", "ops@example.com", "simulated", "2025-06-03T13:00:00Z"),
    ]
    assert [row["notices"] for row in alerts_document()] == [2]


def test_nothing_raised_is_nothing() -> None:
    moment = datetime.fromisoformat("2025-06-03T12:00:00Z")
    assert raise_alerts([], now=moment) == 0
    assert resolve_alerts(rule="idle", subject_kind="instance", subjects=[], now=moment) == 0


def test_names_with_every_character_survive(occurrence: Make, now: datetime) -> None:
    nasty = "i-1'\"%s\\;\U0001f600 <b>"
    raise_alerts([occurrence(subject=nasty, facts={"name": nasty})], now=now)
    alert = Alert.objects.get()
    assert (alert.subject, alert.facts) == (nasty, {"name": nasty})


def test_documents_as_they_stood(occurrence: Make, now: datetime) -> None:
    raise_alerts([occurrence()], now=now)
    deliver(now=now + timedelta(minutes=5), effects=SIMULATED)
    resolve_alerts(rule="idle", subject_kind="instance", subjects=["i-1"], account="lab", now=now + HOUR)

    def alerts_at(moment: datetime) -> list[tuple[Any, ...]]:
        return [(row["state"], row["resolved_at"]) for row in alerts_document(at=moment)]

    assert alerts_at(now - HOUR) == []
    assert alerts_at(now) == [("open", None)]
    assert alerts_at(now + HOUR) == [("resolved", "2025-06-03T13:00:00Z")]
    [row] = deliveries_document(at=now)
    assert (row["state"], row["delivered_at"], row["attempts"]) == ("waiting", None, [])
    [row] = deliveries_document(at=now + HOUR)
    assert (row["state"], row["delivered_at"]) == ("simulated", "2025-06-03T12:05:00Z")


def test_periods_are_half_open(occurrence: Make, now: datetime) -> None:
    raise_alerts([occurrence()], now=now)
    assert len(alerts_document(since=now, until=now + HOUR)) == 1
    assert alerts_document(since=now - HOUR, until=now) == []
    assert len(deliveries_document(since=now)) == 1
    assert deliveries_document(since=now + timedelta(seconds=1)) == []


def test_what_no_column_can_hold_fails_nothing(occurrence: Make, now: datetime) -> None:
    name = "x\x00\ud800" + "y" * 1000
    one = occurrence(subject=name, owner=name, threshold=name, facts={"\x00a": ["\x00b", {"c": "\udfffd"}], "n": 1.5})
    assert raise_alerts([one, occurrence()], now=now) == 2
    alert = Alert.objects.get(subject__startswith="xy")
    assert (len(alert.subject), len(alert.owner), alert.facts) == (420, 254, {"a": ["b", {"c": "d"}], "n": 1.5})
    assert raise_alerts([one], now=now) == 0
    assert resolve_alerts(rule="idle", subject_kind="instance", subjects=[name], account="lab", now=now) == 1
