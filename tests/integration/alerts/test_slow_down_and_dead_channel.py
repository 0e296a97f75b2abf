"""Twenty-five alerts at once over a Slack that says slow down, a Slack that is gone, and e-mail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from alerts.actions.alerts import raise_alerts
from alerts.actions.deliver import deliver
from alerts.domain.occurrence import Occurrence
from alerts.models import Channel, Delivery, Route
from alerts.queries import deliveries_document, next_due
from common.effects import Effects
from common.periods import parse_moment
from tests.support.scripted_http import Answer, ScriptedServer
from tests.support.smtp import SmtpSink

pytestmark = pytest.mark.django_db

FIRED = datetime(2025, 6, 3, 10, tzinfo=UTC)
END = FIRED + timedelta(minutes=15)
EFFECTS = Effects("real", far_from_clock=True)


def occurrences(count: int) -> list[Occurrence]:
    return [
        Occurrence(
            rule="idle", kind="idle", subject_kind="instance", subject=f"i-{number:02}", account="lab", team_id=None,
            owner="dev@example.com", episode="2025-06-03T09:00:00Z", facts={"since": "2025-06-03T09:00:00Z"},
        )
        for number in range(1, count + 1)
    ]  # fmt: skip


def declare(slack: ScriptedServer) -> None:
    for name, path in (("slack-main", "main"), ("slack-old", "old")):
        Channel.objects.create(name=name, kind="slack_webhook", spec={"url": f"{slack.url}/{path}", "test": True})
    Channel.objects.create(name="mail", kind="email", spec={"test": True})
    Route.objects.create(position=0, match={}, channels=["slack-main", "slack-old", "mail"])


def play(until: datetime) -> None:
    now: datetime | None = FIRED
    while now is not None and now <= until:
        deliver(now=now, effects=EFFECTS)
        now = next_due(after=now)


def test_everything_arrives_once_at_its_pace(scripted_http: ScriptedServer, smtp_sink: SmtpSink, settings: Any) -> None:
    settings.EMAIL_URL = smtp_sink.url
    slow = [Answer(429, b"rate_limited", {"Retry-After": "30"})] * 2
    main = iter([*slow, *[Answer(200, b"ok")] * 100])
    scripted_http.respond = lambda request: next(main) if request.path == "/main" else Answer(404, b"no_service")
    declare(scripted_http)

    assert raise_alerts(occurrences(25), now=FIRED) == 25
    assert raise_alerts(occurrences(25), now=FIRED) == 0
    play(END)

    rows = [row for row in deliveries_document() if row["subject"].startswith("i-")]
    by_channel = {name: [row for row in rows if row["channel"] == name] for name in ("slack-main", "slack-old", "mail")}
    assert {row["state"] for row in by_channel["slack-main"]} == {"sent"}
    assert len(by_channel["slack-main"]) == 25
    assert {row["state"] for row in by_channel["mail"]} == {"sent"}
    assert max(row["delivered_at"] for row in by_channel["mail"]) == "2025-06-03T10:00:00Z"
    assert [message["To"] for message in smtp_sink.messages].count("dev@example.com") == 25

    calls = [request for request in scripted_http.requests if request.path == "/main"]
    times = [parse_moment(call.headers["Fleetledger-At"]) for call in calls]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps[:2] == [timedelta(seconds=30), timedelta(seconds=30)]
    assert min(gaps) >= timedelta(seconds=1)
    texts = [call.json()["text"] for call in calls[2:]]
    assert [sum(f"i-{number:02}:" in text for text in texts) for number in range(1, 26)] == [1] * 25

    old = Channel.objects.get(name="slack-old")
    assert old.broken_at == FIRED
    assert old.broken_reason == "404 no_service"
    assert sum(request.path == "/old" for request in scripted_http.requests) == 1
    assert Delivery.objects.filter(channel=old, state="failed").count() == 25
    assert not Delivery.objects.filter(state="waiting").exists()
