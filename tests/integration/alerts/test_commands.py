"""`manage.py alerts` and `deliveries`, and channels that are mended by applying their file."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import call_command

from alerts.actions.alerts import raise_alerts
from alerts.actions.channels import break_channel
from alerts.actions.deliver import deliver
from alerts.domain.occurrence import Occurrence
from alerts.models import Channel
from alerts.queries import alerts_document
from common.effects import SIMULATED
from config.declared.apply import apply_file
from people.models import AuditEvent

pytestmark = pytest.mark.django_db
FILE = """
channels:
  - {name: mail, kind: email, to: ops@example.com}
  - {name: hook, kind: webhook, url: "https://hooks.example.com/x"}
routes:
  - {match: {}, channels: [hook], fallback: [mail]}
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    call_command(*words)
    return capsys.readouterr().out


def test_both_lists(
    fleet: Path, occurrence: Callable[..., Occurrence], now: datetime, capsys: pytest.CaptureFixture[str]
) -> None:
    apply_file(fleet, now=now)
    raise_alerts([occurrence(threshold="5")], now=now)
    deliver(now=now, effects=SIMULATED)
    [alert] = json.loads(run(capsys, "alerts", "--json", "--since", "2025-06-03T12:00:00Z"))
    assert set(alert) == {
        "id", "rule", "kind", "subject", "team", "episode", "state", "threshold", "opened_at", "resolved_at",
        "reopened", "notices",
    }  # fmt: skip
    assert (alert["threshold"], alert["notices"]) == ("5", 1)
    [row] = json.loads(run(capsys, "deliveries", "--json"))
    assert {
        "message", "kind", "alerts", "subject", "channel", "to", "state", "delivered_at", "attempts",
    } <= set(row)  # fmt: skip
    assert (row["alerts"], row["subject"], row["channel"], row["to"]) == ([alert["id"]], "i-1", "hook", None)
    assert row["attempts"][0] == {
        "at": "2025-06-03T12:00:00Z", "outcome": "simulated", "status": None, "retry_after": None, "detail": None,
    }  # fmt: skip


def test_for_people(
    fleet: Path, occurrence: Callable[..., Occurrence], now: datetime, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "alerts") == "No alerts.\n"
    assert run(capsys, "deliveries") == "No deliveries.\n"
    apply_file(fleet, now=now)
    raise_alerts([occurrence()], now=now)
    deliver(now=now, effects=SIMULATED)
    assert run(capsys, "alerts").split() == ["2025-06-03T12:00:00Z", "open", "idle", "i-1", "unassigned", "1", "sent"]
    assert run(capsys, "deliveries").split() == [
        "2025-06-03T12:00:00Z", "simulated", "alert", "i-1", "hook", "2025-06-03T12:00:00Z", "simulated",
    ]  # fmt: skip


def test_a_time_without_a_zone_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("alerts", "--json", "--since", "2025-06-03T12:00:00")
    assert ended.value.code == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "bad_time"


def test_applying_the_file_mends_a_broken_channel(fleet: Path, now: datetime) -> None:
    apply_file(fleet, now=now)
    hook = Channel.objects.get(name="hook")
    assert break_channel(hook.pk, reason="404 no_service", now=now)
    assert not break_channel(hook.pk, reason="404 no_service", now=now)
    later = now + timedelta(hours=1)
    assert apply_file(fleet, now=later, by="admin@example.com").as_json()["changed"] == []
    hook.refresh_from_db()
    assert (hook.broken_at, hook.broken_reason) == (None, "")
    assert [(row["kind"], row["state"], row["resolved_at"], row["notices"]) for row in alerts_document()] == [
        ("channel", "resolved", "2025-06-03T13:00:00Z", 2)
    ]
    events = AuditEvent.objects.filter(subject_kind="channel").order_by("pk").values_list("action", "by")
    assert list(events) == [("channel_broken", "system"), ("channel_mended", "admin@example.com")]
