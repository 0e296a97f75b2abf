"""The doors for machines that watch us: /healthz, /readyz, /metrics."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from config.health import job_checks
from config.schedule import JOBS
from fleet.models import Gpu, GpuUse, Instance, Job, JobRun, Source, SourcePull, Verdict
from fleet.queries.health import JobHealth
from people.actions.world import advance_world
from tests.support.page_data import company

pytestmark = pytest.mark.django_db
NAMES = [job.name for job in JOBS] + ["judge", "meter"]


def runs_of_all(ok_at: datetime) -> None:
    JobRun.objects.bulk_create(JobRun(name=name, now=ok_at, started_at=ok_at, ok_at=ok_at) for name in NAMES)


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(text)
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}


def test_healthz_says_ok_and_nothing_more(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok")


def test_healthz_is_503_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.views.database_answers", lambda: False)
    assert client.get("/healthz").status_code == 503


def test_readyz_wants_every_job_to_have_gone_well_lately(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert {one["message"] for one in answer.json()["checks"]} == {"", "has not gone well yet"}
    runs_of_all(datetime.now(UTC))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["ready"]) == (200, True)
    JobRun.objects.filter(name="judge").update(ok_at=datetime.now(UTC) - timedelta(minutes=40))
    wrong = [one for one in client.get("/readyz").json()["checks"] if not one["ok"]]
    assert wrong == [{"check": "judge", "ok": False, "message": "last went well 40 min ago"}]


def test_a_daily_job_may_be_two_days_old() -> None:
    clock = datetime(2026, 11, 30, 12, tzinfo=UTC)
    runs = [JobHealth(name, "", clock - timedelta(minutes=10), 0) for name in NAMES if name != "retain"]
    old = JobHealth("retain", "", clock - timedelta(days=2), 0)
    assert [one.message for one in job_checks([*runs, old], clock=clock, is_replaying=False) if one.message] == []
    older = JobHealth("retain", "", clock - timedelta(days=4), 0)
    assert [one.name for one in job_checks([*runs, older], clock=clock, is_replaying=False) if one.message] == [
        "retain"
    ]


def test_under_replay_no_job_is_due(client: Client) -> None:
    advance_world(now=datetime(2025, 6, 3, tzinfo=UTC), is_replay=True)
    assert client.get("/readyz").json()["ready"] is True


def test_readyz_tells_a_database_that_is_older_than_the_code(client: Client) -> None:
    runs_of_all(datetime.now(UTC))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'people' AND name LIKE '000%'")
    wrong = [one for one in client.get("/readyz").json()["checks"] if not one["ok"]]
    assert [one["check"] for one in wrong] == ["migrations"]


def test_metrics_show_health_to_everyone(client: Client) -> None:
    company()
    now = datetime.now(UTC)
    source = Source.objects.get()
    Source.objects.update(collected_until=now - timedelta(minutes=7))
    SourcePull.objects.create(source=source, at=now, since=now, until=now, error_code="source_timeout")
    JobRun.objects.create(
        name="judge", now=now, started_at=now, ok_at=datetime.fromtimestamp(1_790_000_000, UTC), failures=3
    )
    found = values(client.get("/metrics").content.decode())
    assert found["fleetledger_source_lag_seconds", (("source", "prom-main"),)] == pytest.approx(420, abs=20)
    assert found["fleetledger_source_up", (("source", "prom-main"),)] == 0
    job = (("job", "judge"), ("shard", ""))
    assert found["fleetledger_job_last_success_timestamp_seconds", job] == 1_790_000_000
    assert found["fleetledger_job_failures", job] == 3
    assert not any(name == "fleetledger_gpus" for name, _labels in found)


def test_a_source_that_never_answered_has_no_age_and_is_not_up(client: Client) -> None:
    company()
    found = values(client.get("/metrics").content.decode())
    assert ("fleetledger_source_lag_seconds", (("source", "prom-main"),)) not in found
    assert found["fleetledger_source_up", (("source", "prom-main"),)] == 0


def test_figures_of_teams_need_the_token(client: Client, settings: object) -> None:
    settings.METRICS_TOKEN = "a-token-of-some-length"  # type: ignore[attr-defined]
    teams = company()
    now = datetime.now(UTC)
    machine = Instance.objects.create(external_id="vis-01", team=teams["vision"])
    gpu = Gpu.objects.create(uuid="GPU-1", instance=machine, first_seen_at=now, last_seen_at=now)
    Verdict.objects.create(subject_kind="gpu", subject_id=gpu.pk, start=now, state="held", reason="quiet_memory_held")
    assert b"vision" not in client.get("/metrics").content
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    answer = client.get("/metrics", headers={"Authorization": "Bearer a-token-of-some-length"})
    found = values(answer.content.decode())
    assert found["fleetledger_gpus", (("state", "held"), ("team", "vision"))] == 1
    assert found["fleetledger_gpus", (("state", "held"), ("team", "nlp"))] == 0


def test_a_gpu_counts_for_the_team_of_the_job_that_uses_it(client: Client, settings: object) -> None:
    settings.METRICS_TOKEN = "a-token-of-some-length"  # type: ignore[attr-defined]
    teams = company()
    now = datetime.now(UTC)
    machine = Instance.objects.create(external_id="shared-01", team=teams["vision"])
    jobs = [
        Job.objects.create(kind="pod", external_id=f"{name}/p", started_at=now, labels={"namespace": name})
        for name in ("nlp", "robotics")
    ]
    users = {"one-job": jobs[:1], "two-jobs": jobs, "nobody": []}
    for name, using in users.items():
        gpu = Gpu.objects.create(uuid=f"GPU-{name}", instance=machine, first_seen_at=now, last_seen_at=now)
        Verdict.objects.create(subject_kind="gpu", subject_id=gpu.pk, start=now, state="working", reason="busy")
        GpuUse.objects.bulk_create(GpuUse(gpu=gpu, job=job, start=now) for job in using)
        GpuUse.objects.create(gpu=gpu, job=jobs[1], start=now - timedelta(hours=2), end=now - timedelta(hours=1))
    answer = client.get("/metrics", headers={"Authorization": "Bearer a-token-of-some-length"})
    found = values(answer.content.decode())
    counted = {team: found["fleetledger_gpus", (("state", "working"), ("team", team))] for team in ("nlp", "vision")}
    assert counted == {"nlp": 1, "vision": 2}


def test_messages_put_aside_are_counted_where_the_broker_is_a_folder(
    client: Client, settings: object, tmp_path: Path
) -> None:
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"folder": str(tmp_path)}  # type: ignore[attr-defined]
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "1.q.json").write_text("?")
    assert values(client.get("/metrics").content.decode())["fleetledger_broker_bad_messages", ()] == 1
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {}  # type: ignore[attr-defined]
    assert b"broker" not in client.get("/metrics").content


def test_no_token_is_right_while_none_is_set(client: Client, settings: object) -> None:
    settings.METRICS_TOKEN = ""  # type: ignore[attr-defined]
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 401
