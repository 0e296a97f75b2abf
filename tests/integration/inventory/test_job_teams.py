"""The team of every job: by the rules of now while it runs, by those of its end for the last time afterwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fleet.actions.ownership import declare_ownership, refresh_job_teams
from fleet.models import Gpu, GpuUse, Instance, Job
from people.models import Team

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


def job(namespace: str, *, ended_at: datetime | None = None, placed: bool = True) -> Job:
    row = Job.objects.create(
        kind="pod", external_id=f"{namespace}/x", labels={"namespace": namespace}, started_at=START, ended_at=ended_at
    )
    if placed:
        box = Instance.objects.create(external_id=f"box-{namespace}", host=f"box-{namespace}")
        gpu = Gpu.objects.create(uuid=f"GPU-{namespace}", instance=box, first_seen_at=START, last_seen_at=START)
        GpuUse.objects.create(gpu=gpu, job=row, start=START, end=ended_at)
    return row


def team_names() -> dict[str, str | None]:
    return dict(Job.objects.values_list("external_id", "team__name"))


def test_a_running_job_follows_the_rules() -> None:
    nlp, vision = Team.objects.create(name="nlp"), Team.objects.create(name="vision")
    job("nlp")
    job("other")
    assert refresh_job_teams(now=START + HOUR) == 1
    assert team_names() == {"nlp/x": "nlp", "other/x": None}
    declare_ownership([{"team": vision.name, "match": {"namespace": "*"}}], now=START + HOUR)
    assert refresh_job_teams(now=START + 2 * HOUR) == 2
    assert team_names() == {"nlp/x": "vision", "other/x": "vision"}
    assert refresh_job_teams(now=START + 3 * HOUR) == 0
    assert nlp.pk != vision.pk


def test_one_that_ended_keeps_the_team_of_its_end() -> None:
    for name in ("nlp", "vision"):
        Team.objects.create(name=name)
    ended = job("nlp", ended_at=START + HOUR)
    refresh_job_teams(now=START + 2 * HOUR)
    assert team_names() == {"nlp/x": "nlp"}
    declare_ownership([{"team": "vision", "match": {"namespace": "*"}}], now=START + 3 * HOUR)
    assert refresh_job_teams(now=START + 4 * HOUR) == 0
    assert team_names() == {"nlp/x": "nlp"}
    ended.refresh_from_db()
    assert ended.team_settled_at == START + 2 * HOUR


def test_a_job_that_never_held_a_placed_gpu_is_nobodys() -> None:
    Team.objects.create(name="nlp")
    job("nlp", placed=False)
    assert refresh_job_teams(now=START + HOUR) == 0
    assert team_names() == {"nlp/x": None}
