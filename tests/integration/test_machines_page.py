"""The table of machines: figures, totals, order, filters, files, and who sees what."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from billing.models import MachineDay, MachineMonth
from fleet.models import Finding, Instance
from people.models import Team
from tests.integration.test_fleet_map import names
from tests.integration.test_overview import text_of
from tests.support.page_data import company, machine, person

pytestmark = pytest.mark.django_db


@pytest.fixture
def teams() -> dict[str, Team]:
    return company(zone="UTC")


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(person("ingrid@example.com", ("admin", None)))
    return client


def spend(row: Instance, cost: str, *, currency: str = "USD", team: Team | None = None, unpriced_ms: int = 0) -> None:
    """A month's total, and two days of use: three quarters working of what was seen."""
    today = datetime.now(UTC).date()
    team = team or row.team
    MachineMonth.objects.create(
        month=today.replace(day=1), instance=row, team=team, currency=currency, cost=Decimal(cost),
        unpriced_ms=unpriced_ms,
    )  # fmt: skip
    for age in (0, 6, 7):  # the last lies before the seven days
        MachineDay.objects.create(
            day=today - timedelta(days=age), instance=row, team=team, currency=currency,
            working_ms=50 if age < 7 else 0, low_ms=25, held_ms=25 if age < 7 else 999, unknown_ms=1000,
        )  # fmt: skip


def fleet(teams: dict[str, Team]) -> dict[str, Instance]:
    now = datetime.now(UTC)
    rows = {
        "b-held": machine("b-held", teams["vision"], "held", now=now, price="30.00"),
        "a-works": machine("a-works", teams["vision"], "working", now=now, price="10.50"),
        "c-bare": machine("c-bare", teams["nlp"], "empty", now=now, price=""),
    }
    spend(rows["b-held"], "100.25")
    spend(rows["a-works"], "300.50")
    spend(rows["a-works"], "7.00", currency="EUR")
    spend(rows["c-bare"], "0", unpriced_ms=5)
    for kind, subject in (("idle", "instance"), ("suspected_hang", "job")):
        Finding.objects.create(
            kind=kind, subject_kind=subject, subject_id=1, subject_name="x", instance=rows["b-held"],
            team=teams["vision" if subject == "instance" else "nlp"], episode=now, since=now, opened_at=now,
        )  # fmt: skip
    return rows


def test_figures_and_totals_are_exact(admin: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    page = text_of(admin.get("/instances/").content)
    assert "3 machines with 24 GPUs: $40.50 an hour." in page
    assert "a-works lab vision priya Working" in page
    assert "8 H100 $10.50 €7.00 $300.50 75 %" in page or "8 H100 $10.50 $300.50 €7.00 75 %" in page
    assert "8 H100 $30.00 $100.25 75 % 2 idle, seems to hang" in page
    assert "8 H100 unpriced unpriced 75 %" in page
    assert "All 3 24 $40.50 / h + 1 unpriced €7.00 $400.75 + 1 unpriced" in page


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("name", ["a-works", "b-held", "c-bare"]),
        ("-per_hour", ["b-held", "a-works", "c-bare"]),
        ("per_hour", ["a-works", "b-held", "c-bare"]),
        ("team", ["c-bare", "a-works", "b-held"]),
        ("state", ["a-works", "b-held", "c-bare"]),
        ("-findings", ["b-held", "a-works", "c-bare"]),
        ("-idle_for", ["b-held", "c-bare", "a-works"]),
    ],
)
def test_it_is_sorted_by_the_database(admin: Client, teams: dict[str, Team], sort: str, expected: list[str]) -> None:
    fleet(teams)
    assert names(admin, f"/instances/?sort={sort}") == expected


def test_pages_are_cut_and_totals_stay_whole(
    admin: Client, teams: dict[str, Team], django_assert_max_num_queries: Any
) -> None:
    now = datetime.now(UTC)
    for number in range(53):
        machine(f"m-{number:02d}", teams["vision"], "working", now=now, price="1.00" if number else "")
    with django_assert_max_num_queries(12):
        answer = admin.get("/instances/?page=2")
    assert names(admin, "/instances/?page=2") == ["m-50", "m-51", "m-52"]
    assert answer.context["totals"].count == 53
    assert answer.context["totals"].per_hour == {"USD": Decimal(52)}


def test_filters_narrow_rows_and_totals_alike(admin: Client, teams: dict[str, Team]) -> None:
    rows = fleet(teams)
    Instance.objects.filter(pk=rows["c-bare"].pk).update(attributes={"gpu_model": "L40S", "region": "eu"})
    assert names(admin, "/instances/?state=held") == ["b-held"]
    assert names(admin, "/instances/?model=L40S&region=eu") == ["c-bare"]
    assert names(admin, "/instances/?finding=idle") == ["b-held"]
    assert names(admin, "/instances/?q=WORKS+lab") == ["a-works"]
    assert admin.get("/instances/?q=works").context["totals"].month == {"EUR": Decimal(7), "USD": Decimal("300.5")}
    assert names(admin, "/instances/?q=100%25") == []
    for bad in ("state=busy", "seen=maybe", "finding=x", "sort=secret", "as=pdf"):
        assert admin.get(f"/instances/?{bad}").status_code == 400


def test_the_file_has_every_row_and_a_row_for_each_currency(admin: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    answer = admin.get("/instances/?as=csv-raw&sort=name")
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [(row["name"], row["cost_currency"], row["cost"]) for row in rows] == [
        ("a-works", "EUR", "7.000000000"), ("a-works", "USD", "300.500000000"), ("b-held", "USD", "100.250000000"),
        ("c-bare", "", ""),
    ]  # fmt: skip
    assert sum(int(row["gpus"]) for row in rows) == 24


def test_money_of_another_team_on_the_same_machine_is_not_told(client: Client, teams: dict[str, Team]) -> None:
    rows = fleet(teams)
    spend(rows["a-works"], "5000", team=teams["nlp"])
    client.force_login(person("lead@example.com", ("team_lead", teams["vision"])))
    answer = client.get("/instances/")
    assert answer.context["totals"].month == {"EUR": Decimal(7), "USD": Decimal("400.75")}
    page = text_of(answer.content)
    assert "c-bare" not in page
    assert "hang" not in page  # a job of nlp
    assert answer.context["totals"].findings == 1


def test_a_stopped_machine_is_not_billed_and_a_stopped_billed_one_is(admin: Client, teams: dict[str, Team]) -> None:
    rows = fleet(teams)
    Instance.objects.filter(pk=rows["a-works"].pk).update(state="stopped")
    Instance.objects.filter(pk=rows["b-held"].pk).update(state="stopped_billed")
    totals = admin.get("/instances/").context["totals"]
    assert (totals.per_hour, totals.unpriced) == ({"USD": Decimal(30)}, 1)


def test_nothing_is_known_yet(admin: Client, teams: dict[str, Team]) -> None:
    assert "Machines show here as soon as" in text_of(admin.get("/instances/").content)
