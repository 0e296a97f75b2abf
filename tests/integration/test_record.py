"""The record of one machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from billing.models import MachineDay
from billing.queries.prices import Prices
from fleet.models import (
    Exemption,
    Finding,
    Gpu,
    GpuPlacement,
    GpuUse,
    IdleRuleVersion,
    InstanceState,
    Job,
    Policy,
    Verdict,
)
from fleet.queries.explain import explain
from fleet.sentences import next_sentence
from people.models import Team
from tests.integration.test_overview import figure, text_of
from tests.support.page_data import company, machine, person, samples

pytestmark = pytest.mark.django_db


@pytest.fixture
def teams() -> dict[str, Team]:
    return company(zone="UTC")


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(person("ingrid@example.com", ("admin", None)))
    return client


def test_the_verdict_stands_with_its_evidence(admin: Client, teams: dict[str, Team]) -> None:
    machine("vis-01", teams["vision"], "held", now=datetime.now(UTC))
    page = text_of(admin.get("/instances/lab/vis-01/").content)
    assert "Team vision · owner priya · 8 × H100" in page
    assert "Highest 1.8 % Average 0.5 %" in page
    assert "Coverage 100 %" in page
    assert "Confidence high" in page
    assert page.count("GPU 0") == 1
    assert page.count("GPU-vis-01-") == 8


def test_price_and_cost_by_state_are_exact(admin: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    row = machine("vis-01", teams["vision"], "held", now=now, price="32.80")
    MachineDay.objects.create(
        day=now.date(), instance=row, team=teams["vision"], currency="USD", working=Decimal("1.004"), held=Decimal(2),
        unknown=Decimal("0.5"), storage=Decimal("0.25"),
    )  # fmt: skip
    page = text_of(admin.get("/instances/lab/vis-01/").content)
    assert "Price $32.80 / h Price from inventory" in page
    assert f"{now:%B %Y} so far $3.75 of it working $1.00 of it idle $2.00" in page
    assert "of it storage and other $0.25 of it unknown $0.50" in page


def test_without_a_price_nothing_is_zero(admin: Client, teams: dict[str, Team]) -> None:
    machine("vis-01", teams["vision"], "held", now=datetime.now(UTC), price="")
    page = text_of(admin.get("/instances/lab/vis-01/").content)
    assert "Price unpriced" in page
    assert "$0.00" not in page


def test_a_host_that_no_account_knows_stands_under_a_dash(admin: Client, teams: dict[str, Team]) -> None:
    machine("stray.example", None, "unknown", now=datetime.now(UTC), account=False)
    page = text_of(admin.get("/instances/-/stray.example/").content)
    assert "no account knows it" in page
    assert admin.get("/instances/lab/stray.example/").status_code == 404


def test_an_id_may_hold_slashes_and_odd_signs(admin: Client, teams: dict[str, Team]) -> None:
    name = "projects/p/zones/z/<b>&?#é"
    row = machine(name, teams["vision"], "held", now=datetime.now(UTC))
    answer = admin.get(f"/instances/lab/{quote(row.external_id, safe='/')}/")
    assert answer.status_code == 200
    assert b"<b>&" not in answer.content
    listed = admin.get("/idle/").content.decode()
    assert f'href="/instances/lab/{quote(name, safe="/")}/"' in listed


def test_history_says_unknown_where_nothing_was_judged(admin: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    row = machine("vis-01", teams["vision"], "held", now=now)
    start, end = now - timedelta(days=2), now - timedelta(days=1)
    Verdict.objects.create(
        subject_kind="instance", subject_id=row.pk, start=start, end=end, state="working", reason="busy"
    )
    page = admin.get("/instances/lab/vis-01/?period=7d").content.decode()
    band = page[page.index('class="band"') :]
    assert [part.split('"')[0] for part in band[: band.index("</svg>")].split('<rect class="')[1:]] == [
        "unknown", "working", "unknown", "held",
    ]  # fmt: skip


def test_findings_open_and_closed_are_listed(admin: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    row = machine("vis-01", teams["vision"], "held", now=now)
    facts: dict[str, Any] = {"subject_kind": "instance", "subject_id": row.pk, "subject_name": "vis-01"}
    facts |= {"instance": row, "opened_at": now}
    Finding.objects.create(kind="idle", episode=now, since=now, **facts)
    Finding.objects.create(kind="unpriced", episode=now, since=now, closed_at=now, **facts)
    page = text_of(admin.get("/instances/lab/vis-01/").content)
    assert "idle open since" in page
    assert "without a price" in page


def test_the_picture_shows_the_samples_and_the_rule_says_where_it_comes_from(
    admin: Client, teams: dict[str, Team]
) -> None:
    now = datetime.now(UTC)
    samples(machine("vis-01", teams["vision"], "held", now=now), now)
    IdleRuleVersion.objects.create(valid_from=now - timedelta(days=9), spec={"min_coverage_pct": 75})
    Policy.objects.create(
        name="dev",
        position=0,
        version=3,
        spec={"mode": "observe", "select": {"teams": ["Vision"]}, "idle": {"window": "2h"}},
    )
    Exemption.objects.create(
        instance_ref="lab/vis-01", reason="deadline", approver="lead@x", until=now + timedelta(days=1)
    )
    page = admin.get("/instances/lab/vis-01/").content
    drawn = figure(page, "figure-activity")
    assert len(drawn["data"]) == 8
    assert len(drawn["data"][0]["y"]) == 288
    assert drawn["data"][0]["y"].count(None) == 144 + 5
    read = text_of(page)
    assert "Rule dev, version 3, observe Quiet below 5 % default Quiet for 2 h policy dev" in read
    assert "Coverage needed 75 % organisation" in read
    assert "Exempt lead@x: deadline" in read
    assert "It is exempt by lead@x: policies leave it alone." in read
    assert "It stays idle until two samples in a row are busy, or it starts anew." in read
    assert "Vetoes none; no source of sessions or kernels is connected" in read


def test_what_it_foretells_of_a_working_machine_is_what_explain_says(admin: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    row = machine("vis-01", teams["vision"], "working", now=now)
    Gpu.objects.filter(instance=row).update(first_seen_at=now - timedelta(days=2))
    GpuPlacement.objects.bulk_create(
        GpuPlacement(gpu=gpu, instance=row, host=row.host, start=now - timedelta(days=2)) for gpu in row.gpus.all()
    )
    InstanceState.objects.create(instance=row, start=now - timedelta(days=2), state="running")
    samples(row, now, quiet_hours=0.4)
    (told,) = explain("lab/vis-01", now, Prices())["next"]
    expected = next_sentence(told["what"], told["at"], ZoneInfo("UTC"))
    assert expected.startswith("If it stays quiet from now on, it is idle at 20")
    assert expected in text_of(admin.get("/instances/lab/vis-01/").content)


def test_jobs_of_another_team_are_neither_named_nor_counted(client: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    row = machine("vis-01", teams["vision"], "working", now=now)
    for name, gpus in (("vision/train", 6), ("nlp/secret", 2)):
        labels = {"namespace": name.split("/", maxsplit=1)[0]}
        job = Job.objects.create(kind="pod", external_id=name, owner="dev@x", started_at=now, labels=labels)
        GpuUse.objects.bulk_create(GpuUse(gpu=gpu, job=job, start=now) for gpu in row.gpus.all()[:gpus])
    client.force_login(person("lead@example.com", ("team_lead", teams["vision"])))
    page = text_of(client.get("/instances/lab/vis-01/").content)
    assert "vision/train vision · dev@x 6 GPUs" in page
    assert "Jobs on it now 1 vision/train" in page
    assert "2 GPUs" not in page
    assert "secret" not in page
    assert "nlp" not in page


def test_without_samples_nothing_is_drawn_and_a_machine_without_gpus_has_a_page(
    admin: Client, teams: dict[str, Team]
) -> None:
    row = machine("vis-01", teams["vision"], "unknown", now=datetime.now(UTC))
    Verdict.objects.update(evidence={})
    page = admin.get("/instances/lab/vis-01/").content
    assert b"figure-activity" not in page
    assert "Nothing is drawn, because nothing is known" in text_of(page)
    Gpu.objects.all().delete()
    Verdict.objects.all().delete()
    assert admin.get(f"/instances/lab/{row.external_id}/").status_code == 200


def test_a_record_asks_at_most_twelve_questions(
    admin: Client, teams: dict[str, Team], django_assert_max_num_queries: object
) -> None:
    row = machine("vis-01", teams["vision"], "held", now=datetime.now(UTC))
    samples(row, datetime.now(UTC))
    machine("unpriced", teams["vision"], "held", now=datetime.now(UTC), price="")
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert admin.get("/instances/lab/unpriced/").status_code == 200
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert admin.get("/instances/lab/vis-01/").status_code == 200
