"""Sources and data health: what is seen, what isn't since when, and what of it each person may know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from fleet.models import BadSample, Gpu, Instance, Source, SourcePull, Target
from fleet.queries.data_health import source_days, unseen_nodes
from people.models import AuditEvent, Team
from people.roles import TeamChoice
from tests.support.page_data import PASSWORD, company, machine, person

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC).replace(microsecond=0)
ALL = TeamChoice(None, unassigned=True)


def pull(source: Source, minutes: float, coverage: float | None = 100.0, code: str = "") -> SourcePull:
    at = NOW - timedelta(minutes=minutes)
    return SourcePull.objects.create(
        source=source, at=at, since=at - timedelta(minutes=5), until=at, gpus=8, samples=8, coverage_pct=coverage,
        error_code=code, error_message="Nobody answers at http://secret-host:9090." if code else "",
    )  # fmt: skip


@pytest.fixture
def teams() -> dict[str, Team]:
    return company()


@pytest.fixture
def source(teams: dict[str, Team]) -> Source:
    return Source.objects.get()


def seen(row: Instance, minutes: float, source: Source, of: int = 8) -> None:
    ids = list(Gpu.objects.filter(instance=row).order_by("index").values_list("pk", flat=True)[:of])
    Gpu.objects.filter(pk__in=ids).update(last_seen_at=NOW - timedelta(minutes=minutes), source=source)


def test_a_source_tells_of_its_last_day(source: Source, teams: dict[str, Team]) -> None:
    pull(source, 150, 40.0)
    pull(source, 3000, 7.0)  # another day
    good = pull(source, 90, 90.0)
    first_bad = pull(source, 60, None, "source_refused")
    pull(source, 5, None, "source_refused")
    Target.objects.create(source=source, name="a", interval_seconds=15, is_up=True)
    Target.objects.create(source=source, name="b", interval_seconds=30, is_up=False)
    Target.objects.create(source=source, name="c", interval_seconds=60)
    BadSample.objects.create(source=source, day=NOW.date(), kind="nan", signal="power", count=5)
    BadSample.objects.create(source=source, day=NOW.date(), kind="nan", signal="gpu_util", count=2)
    BadSample.objects.create(source=source, day=NOW.date() - timedelta(days=9), kind="nan", signal="power", count=70)
    box = machine("box", teams["nlp"], "working", now=NOW)
    seen(box, 1, source, 8)
    seen(box, 60, source, 3)
    seen(box, 60 * 30, source, 1)
    (day,) = source_days(NOW)
    assert (day.gpus, day.silent, day.targets, day.down) == (5, 2, 3, 1)
    assert day.intervals == (15, 30, 60)
    assert day.bad == {"nan": 7}
    assert day.failing_since == first_bad.at
    assert day.pull["error_code"] == "source_refused"
    assert len(day.cells) == 48
    read = {cell.start: cell.coverage_pct for cell in day.cells if cell.coverage_pct is not None}
    assert sorted(read.values()) == [40.0, 90.0]
    (at_good,) = [start for start, value in read.items() if value == 90.0]
    assert at_good < good.until <= at_good + timedelta(minutes=30)
    assert sum(cell.failed for cell in day.cells) == 2
    assert day.coverage_pct == 65.0


def test_a_pull_that_caught_up_covers_all_that_it_read(source: Source) -> None:
    last = NOW.replace(minute=NOW.minute // 30 * 30, second=0) - timedelta(hours=1)
    caught_up = pull(source, 0, 80.0)
    SourcePull.objects.filter(pk=caught_up.pk).update(since=last - timedelta(hours=3), until=last)
    (day,) = source_days(NOW)
    read = [cell.start for cell in day.cells if cell.coverage_pct is not None]
    assert read == [last - timedelta(minutes=30 * n) for n in range(6, 0, -1)]


def test_machines_that_are_not_seen_whole(source: Source, teams: dict[str, Team]) -> None:
    whole = machine("whole", teams["nlp"], "working", now=NOW)
    seen(whole, 1, source)
    part = machine("part", teams["nlp"], "unknown", now=NOW)
    seen(part, 1, source)
    seen(part, 90, source, 2)
    silent = machine("silent", teams["vision"], "unknown", now=NOW)
    seen(silent, 120, source)
    lab = silent.account
    Instance.objects.create(account=lab, external_id="never", gpu_count=4, state="running", team=None)
    Instance.objects.create(account=lab, external_id="resting", gpu_count=4, state="stopped")
    stray = machine("stray", None, "unknown", now=NOW, account=False)
    Instance.objects.filter(pk=stray.pk).update(gpu_count=None)
    seen(stray, 60 * 24 * 8, source)  # not seen for a week: gone
    found = [(node.name, node.seen, node.expected) for node in unseen_nodes(ALL, NOW)]
    assert found == [("never", 0, 4), ("silent", 0, 8), ("part", 6, 8)]
    mine = TeamChoice(frozenset({teams["vision"].pk}), unassigned=False)
    assert [node.name for node in unseen_nodes(mine, NOW)] == ["silent"]


def client_of(*grants: tuple[str, Team | None]) -> Client:
    client = Client()
    client.force_login(person("one@example.com", *grants, password=PASSWORD))
    return client


def test_who_sees_some_teams_learns_nothing_of_the_rest(source: Source, teams: dict[str, Team]) -> None:
    source.spec = {"url": "http://secret-host:9090"}
    source.save()
    pull(source, 5, None, "source_refused")
    seen(machine("nlp-box", teams["nlp"], "unknown", now=NOW), 90, source)
    seen(machine("vision-box", teams["vision"], "unknown", now=NOW), 90, source)
    mine = client_of(("engineer", teams["vision"]))
    text = mine.get("/sources/").content.decode()
    assert "vision-box" in text
    for hidden in ("nlp-box", "secret-host", "lab, static", "16", "Check now"):
        assert hidden not in text.split("<main", 1)[1], hidden
    assert mine.get("/sources/prom-main/").status_code == 404


def test_an_admin_checks_now(source: Source, teams: dict[str, Team]) -> None:
    admin = client_of(("admin", None))
    answer = admin.post("/sources/check/")
    assert answer.status_code == 200
    failed = {check.subject: check.code for check in answer.context["checks"] if not check.ok}
    assert failed["prom-main"] == "source_down"
    event = AuditEvent.objects.get(action="check_sources")
    assert event.by == "one@example.com"
    assert "source_reachable prom-main" in event.details["failed"]


def test_the_pages_ask_little(source: Source, teams: dict[str, Team], django_assert_max_num_queries: object) -> None:
    for number in range(12):
        seen(machine(f"box-{number}", teams["nlp"], "unknown", now=NOW), 90, source)
        Source.objects.create(name=f"prom-{number}", kind="prometheus", spec={})
    pull(source, 5)
    admin = client_of(("admin", None))
    for address in ("/sources/", "/sources/prom-main/"):
        with django_assert_max_num_queries(12):  # type: ignore[operator]
            assert admin.get(address).status_code == 200
