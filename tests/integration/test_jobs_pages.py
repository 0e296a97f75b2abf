"""The list of jobs and the page of one: figures, periods, files, and who sees what."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from billing.models import JobTotal, MachineDay
from fleet.models import Finding, Gpu, GpuPlacement, GpuUse, Instance, Job, OwnershipRule, Source, Verdict
from people.models import Team
from tests.integration.test_fleet_map import names
from tests.integration.test_overview import text_of
from tests.support.money_world import World, utc
from tests.support.money_world import world as metered
from tests.support.page_data import company, machine, person

__all__ = ["metered"]
pytestmark = pytest.mark.django_db
HOUR_MS = 3_600_000


@pytest.fixture
def teams() -> dict[str, Team]:
    return company(zone="UTC")


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(person("ingrid@example.com", ("admin", None)))
    return client


def job(name: str, team: Team | None, box: Instance, gpus: int, *, hours: float, ended: float | None = None) -> Job:
    """A job that began ``hours`` ago and ended ``ended`` hours ago, with a machine-day."""
    now = datetime.now(UTC)
    start, end = now - timedelta(hours=hours), None if ended is None else now - timedelta(hours=ended)
    row = Job.objects.create(
        source=Source.objects.get(), kind="slurm", external_id=name, owner="priya", team=team, started_at=start,
        ended_at=end,
    )  # fmt: skip
    for gpu in Gpu.objects.filter(instance=box).order_by("index")[:gpus]:
        GpuPlacement.objects.get_or_create(gpu=gpu, instance=box, start=now - timedelta(days=90))
        GpuUse.objects.create(gpu=gpu, job=row, start=start, end=end)
    JobTotal.objects.create(
        job=row, team=team, currency="USD", cost=Decimal("12.50") * gpus, working_ms=3 * gpus * HOUR_MS,
        held_ms=gpus * HOUR_MS,
    )  # fmt: skip
    MachineDay.objects.create(
        day=now.date(), instance=box, job=row, team=team, currency="USD", working=Decimal(9) * gpus,
        held=Decimal("3.5") * gpus, working_ms=3 * gpus * HOUR_MS, held_ms=gpus * HOUR_MS,
    )  # fmt: skip
    return row


def world(teams: dict[str, Team]) -> dict[str, Job]:
    now = datetime.now(UTC)
    box = machine("vis-01", teams["vision"], "working", now=now)
    rows = {
        "train": job("train", teams["vision"], box, 4, hours=5),
        "old": job("old", teams["vision"], box, 2, hours=60, ended=50),
        "other": job("other", teams["nlp"], box, 1, hours=2),
    }
    Verdict.objects.create(
        subject_kind="job", subject_id=rows["train"].pk, start=now - timedelta(hours=1), state="held",
        reason="quiet_memory_held", since=now - timedelta(hours=2), evidence={"mean_pct": 41.5},
    )  # fmt: skip
    Finding.objects.create(
        kind="low_utilization", subject_kind="job", subject_id=rows["train"].pk, subject_name="train", instance=box,
        team=teams["vision"], episode=now, since=now, opened_at=now, evidence={"mean_pct": 12, "memory_pct": 20},
    )  # fmt: skip
    return rows


def test_the_list_says_what_runs_and_what_it_used(admin: Client, teams: dict[str, Team]) -> None:
    world(teams)
    page = text_of(admin.get("/jobs/?sort=name").content)
    assert "2 jobs run now. The 2 listed used 20 GPU-hours so far: $62.50." in page
    assert "other nlp priya not judged yet 1 2 h 4 $12.50" in page
    assert "train vision priya Held 4 5 h 16 $50.00 Mean 12 % in 7 days with 20 % of memory in use" in page
    assert "All 2 20 $62.50" in page


def test_a_period_holds_what_ran_in_it(admin: Client, teams: dict[str, Team]) -> None:
    world(teams)
    assert names(admin, "/jobs/") == ["other", "train"]
    assert names(admin, "/jobs/?when=24h") == ["other", "train"]
    assert names(admin, "/jobs/?when=7d&sort=-cost") == ["train", "old", "other"]
    assert names(admin, "/jobs/?when=7d&sort=gpus") == ["other", "old", "train"]
    assert names(admin, "/jobs/?when=7d&advice=1") == ["train"]
    assert names(admin, "/jobs/?when=7d&state=held") == ["train"]
    assert names(admin, "/jobs/?when=7d&q=OLD") == ["old"]
    assert names(admin, "/jobs/?mine=1") == []
    for bad in ("when=ever", "state=busy", "kind=vm", "sort=owner"):
        assert admin.get(f"/jobs/?{bad}").status_code == 400


def test_jobs_of_another_team_are_neither_listed_nor_counted(client: Client, teams: dict[str, Team]) -> None:
    world(teams)
    client.force_login(person("lead@example.com", ("team_lead", teams["vision"])))
    answer = client.get("/jobs/?when=7d")
    assert (answer.context["totals"].count, answer.context["totals"].cost) == (2, {"USD": Decimal(75)})
    assert "other" not in names(client, "/jobs/?when=7d")
    assert client.get("/jobs/prom-main/other/").status_code == 404
    assert client.get("/jobs/prom-main/train/").status_code == 200
    machine_page = text_of(client.get("/instances/lab/vis-01/?period=7d").content)
    assert "train vision · priya" in machine_page
    assert "other" not in machine_page.replace("Other", "").replace("storage and other", "")


def test_the_file_of_jobs(admin: Client, teams: dict[str, Team]) -> None:
    world(teams)
    rows = list(csv.DictReader(io.StringIO(admin.get("/jobs/?when=7d&as=csv-raw&sort=name").getvalue().decode())))
    assert [(row["name"], row["gpus"], row["nodes"], row["gpu_hours"], row["cost"]) for row in rows] == [
        ("old", "2", "1", "8.0", "25.000000000"), ("other", "1", "1", "4.0", "12.500000000"),
        ("train", "4", "1", "16.0", "50.000000000"),
    ]  # fmt: skip


def test_the_page_of_a_job(admin: Client, teams: dict[str, Team], django_assert_max_num_queries: Any) -> None:
    world(teams)
    with django_assert_max_num_queries(12):
        page = text_of(admin.get("/jobs/prom-main/train/").content)
    assert "Team vision · owner priya · 4 GPUs, one machine" in page
    assert "Over its life $50.00 of it working $36.00 of it idle $14.00" in page
    assert "Working 12" in page
    assert "vis-01 lab 4" in page
    ended = text_of(admin.get("/jobs/prom-main/old/").content)
    assert "10 h run time" in ended
    assert admin.get("/jobs/prom-main/none/").status_code == 404
    assert admin.get("/jobs/-/train/").status_code == 404


def test_an_id_that_ran_twice_has_a_page_for_each_run(admin: Client, teams: dict[str, Team]) -> None:
    rows = world(teams)
    again = job("old", teams["vision"], Instance.objects.get(), 1, hours=1)
    assert "1 h run time so far" in text_of(admin.get("/jobs/prom-main/old/").content)
    first = rows["old"].started_at
    address = f"/jobs/prom-main/old/?started={first:%Y-%m-%dT%H:%M:%SZ}"
    assert "10 h run time" in text_of(admin.get(address).content)
    assert again.started_at > first


def test_hours_of_a_job_and_of_a_machine_as_files(metered: World, client: Client) -> None:
    client.force_login(person("ingrid@example.com", ("admin", None)))
    red, blue = metered.team("red"), metered.team("blue")
    OwnershipRule.objects.create(
        valid_from=utc("1970-01-01T00:00"), position=0, spec={"team_from": {"label": "namespace"}}
    )
    box = metered.instance("i-1", [("2025-06-03T08:00", "running")], price="4.00", gpu_count=1)
    gpu = metered.gpu(box, since="2025-06-03T08:00")
    metered.sample(gpu, "2025-06-03T08:00", "2025-06-03T10:00", 90)
    mine = metered.job([gpu], "red/train", "2025-06-03T08:00", "2025-06-03T09:00", namespace="red")
    metered.job([gpu], "blue/x", "2025-06-03T09:00", "2025-06-03T10:00", namespace="blue")
    Job.objects.filter(pk=mine.pk).update(team=red, ended_at=utc("2025-06-03T09:00"))
    Job.objects.exclude(pk=mine.pk).update(team=blue, ended_at=utc("2025-06-03T10:00"))
    metered.settle("2025-06-03T10:00")
    span = "since=2025-06-03T00:00:00Z&until=2025-06-04T00:00:00Z&as=csv-raw"
    whole = read(client, f"/instances/acct/i-1/?{span}")
    assert [(row["job"], row["team"], row["working_hours"], row["cost"]) for row in whole] == [
        ("red/train", "red", "1.0", "4.000000000"), ("blue/x", "blue", "1.0", "4.000000000"),
    ]  # fmt: skip
    assert [row["job"] for row in read(client, "/jobs/-/red/train/?as=csv-raw")] == ["red/train"]
    Instance.objects.update(team=red)
    client.force_login(person("lead@example.com", ("team_lead", red)))
    assert [row["job"] for row in read(client, f"/instances/acct/i-1/?{span}")] == ["red/train"]


def read(client: Client, address: str) -> list[dict[str, str]]:
    answer = client.get(address)
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
