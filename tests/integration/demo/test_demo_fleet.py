"""The demo database: filled by replay, judged and priced by the product itself; pages show the story."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from alerts.models import Delivery
from billing.models import InstanceHourCost
from common.periods import STEP
from demo.management.commands import demo
from demo.management.commands.demo import stretch
from demo.queries import Progress, progress
from fleet.models import Finding, GpuHour, Source, SourcePull, Verdict
from people.actions.world import advance_world, follow_live_clock
from people.models import Installation
from people.queries import is_replaying
from tests.support.page_data import person

NOW = datetime(2026, 4, 1, 0, 10, tzinfo=UTC)
STORY = NOW.replace(minute=0) - timedelta(days=30)
DAYS = 2


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return STORY + timedelta(days=day, hours=hour, minutes=minute)


@pytest.fixture
def filled(db: None, demo_settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two days of history, with few passes."""
    monkeypatch.setattr(demo, "PACE", ((timedelta(minutes=10), 1), (timedelta(hours=1), 3)))
    demo.begin(now=NOW, days=DAYS)
    demo.fill(start=STORY + timedelta(days=28), at=NOW)


def opened(kind: str) -> dict[str, datetime]:
    """Give the open findings of a kind: subject to since."""
    return dict(Finding.objects.filter(kind=kind, closed_at=None).values_list("subject_name", "since"))


@pytest.mark.slow
def test_a_short_history_shows_the_story(filled: None) -> None:
    idle = opened("idle")
    assert idle["cw-fnd-06"] == at(28, 0, 5)  # as far back as there are samples
    assert idle["aws-misc-01"] == at(28, 7, 40)
    assert idle["lam-apr-03"] == at(29, 17, 30)  # the last cell ended before it was forgotten
    assert set(opened("unassigned")) == {"aws-misc-01"}
    hang = opened("suspected_hang")
    assert [name.startswith("post-training/reward-model-") for name in hang] == [True]
    assert next(iter(hang.values())) == at(29, 21, 30)
    (lost,) = Finding.objects.filter(kind="gpu_lost", closed_at=None)
    assert (lost.evidence["host"], lost.evidence["index"]) == ("aws-vis-02", 5)
    assert set(opened("partly_used")) >= {"aws-vis-03"}
    assert not opened("unpriced")
    assert not opened("unknown_host")
    states = dict(Verdict.objects.filter(subject_kind="instance", end=None).values_list("subject_id", "state"))
    assert len(states) == 32

    disks = InstanceHourCost.objects.filter(instance__external_id="aws-spc-02")
    assert disks.exists()
    hours = GpuHour.objects.exclude(instance__external_id="aws-spc-02")
    assert hours.values("gpu_ref").distinct().count() == 192  # all but those of the stopped machine

    client = Client()
    client.force_login(person("admin@example.com", ("admin", None)))
    page = client.get("/").content.decode()
    assert "Fleetledger DEMO." in page
    assert "Demo history: 2 of" in page
    queue, table = (client.get(address).content.decode() for address in ("/idle/", "/teams/"))
    for host in ("cw-fnd-06", "aws-misc-01"):
        assert host in queue
    for team in ("foundation", "post-training", "inference", "vision", "speech", "robotics", "data-platform"):
        assert team in table
    file = client.get("/teams.csv")
    assert file.headers["Content-Disposition"] == 'attachment; filename="DEMO-fleetledger-teams-2026-04-usage.csv"'
    assert not Delivery.objects.exclude(state__in=("simulated", "waiting")).exists()


@pytest.mark.slow
def test_a_killed_fill_goes_on_where_it_was(db: None, demo_settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "PACE", ((timedelta(minutes=10), 1), (timedelta(days=2), 12)))
    start = demo.begin(now=NOW, days=1)
    with monkeypatch.context() as broken:
        broken.setattr(demo, "replay", killed_after_collecting)
        with pytest.raises(KeyboardInterrupt):
            demo.fill(start=start, at=NOW)
    assert demo.begin(now=NOW, days=1) == start
    assert Source.objects.count() == 1
    assert progress(NOW) == Progress(done=0, days=1, is_filling=True)
    assert demo.fill(start=start, at=NOW) == NOW
    assert Installation.objects.get().world_at == NOW
    pulls = SourcePull.objects.order_by("since").values_list("since", "until")
    assert max(until for _, until in pulls) == NOW
    assert all(after[0] <= before[1] for before, after in zip(pulls, list(pulls)[1:], strict=False))


@pytest.mark.slow
def test_a_night_without_us_is_made_up_for(db: None, demo_settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "PACE", ((timedelta(minutes=10), 1), (timedelta(days=2), 24)))
    evening = NOW - timedelta(hours=4)
    start = demo.begin(now=evening, days=0)
    demo.fill(start=start, at=evening)
    follow_live_clock(now=evening)
    advance_world(now=evening + timedelta(seconds=74))  # a live delivery

    demo.begin(now=evening + timedelta(minutes=40))
    assert not is_replaying()  # the live passes catch up by themselves
    live = evening + timedelta(seconds=74)
    assert demo.fill(start=start, at=evening + timedelta(minutes=40)) == live

    demo.begin(now=NOW)
    assert is_replaying()
    assert demo.fill(start=start, at=NOW) == NOW
    assert Source.objects.get().collected_until == NOW


def killed_after_collecting(**_options: Any) -> None:
    raise KeyboardInterrupt


def test_a_real_database_is_never_filled(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("demo", json=True)
    assert ended.value.code == 4
    assert '"no_demo_database"' in capsys.readouterr().out
    assert not Source.objects.exists()
    assert not Installation.objects.filter(clock="replay").exists()


def test_passes_are_few_long_ago_and_many_near_the_end() -> None:
    end = datetime(2026, 4, 1, 13, 40, tzinfo=UTC)
    done, passes, lengths = end.replace(hour=0, minute=0) - timedelta(days=30), 0, set()
    while done < end:
        until, steps = stretch(done, end)
        assert done < until <= end
        assert until - done <= timedelta(days=1)
        lengths.add(steps)
        passes += (until - done) // (steps * STEP)
        done += (until - done) // (steps * STEP) * steps * STEP
    assert lengths >= {1, 4, 24}
    assert passes < 1100
