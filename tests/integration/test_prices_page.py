"""The page of prices: what each prices, what has none, and a price that is set by hand."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.test import Client

from billing.models import Price
from billing.queries.prices_now import PricesNow
from common.periods import BEGINNING
from fleet.models import Instance
from people.models import AuditEvent, Team
from tests.support.page_data import company, machine, person

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)


@pytest.fixture
def box() -> Instance:
    teams = company()
    machine("told", teams["nlp"], "working", now=NOW, price="9.00")
    return machine("bare", teams["nlp"], "working", now=NOW, price="")


def client_of(role: str, team: Team | None = None) -> Client:
    client = Client()
    client.force_login(person(f"{role}@example.com", (role, team)))
    return client


def form(**more: str) -> dict[str, str]:
    return {
        "act": "set", "gpu_model": "H100", "unit": "gpu_hour", "price": "2.50", "currency": "USD",
        "valid_from": f"{NOW:%Y-%m-%d}", "source": "contract", **more,
    }  # fmt: skip


def rows_of(client: Client) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get("/prices/?as=csv-raw").getvalue().decode())))


def test_what_has_no_price_is_named_and_gets_one(box: Instance) -> None:
    finance = client_of("finance")
    assert b"<strong>One</strong> running machine has no price" in finance.get("/prices/").content
    assert finance.post("/prices/", form()).status_code == 302
    row = Price.objects.get(is_suggested=False)
    assert (row.declared, row.price, row.gpu_model, row.provider) == (None, Decimal("2.5"), "H100", "")
    found = PricesNow().prices([box.pk], NOW + timedelta(hours=1))[box.pk]
    assert (found.per_hour, found.source) == (Decimal(20), "contract")
    event = AuditEvent.objects.get(action="set_price")
    assert (event.by, event.details["price"]) == ("finance@example.com", "2.50")
    assert b"Every running machine has a price." in finance.get("/prices/").content
    assert {(one["kind"], one["machines"]) for one in rows_of(finance)} == {("inventory", "1"), ("hand", "1")}


def test_a_price_that_follows_ends_the_one_before(box: Instance) -> None:
    admin = client_of("admin")
    Price.objects.create(
        gpu_model="H100", unit="gpu_hour", price=2, currency="USD", valid_from=BEGINNING, source="manual"
    )
    assert admin.post("/prices/", form()).status_code == 302
    before, after = Price.objects.filter(is_suggested=False).order_by("valid_from")
    assert before.valid_to == after.valid_from
    assert admin.post("/prices/", {"act": "end", "price": str(after.pk)}).status_code == 302
    after.refresh_from_db()
    assert after.valid_to is not None


def test_the_past_moves_only_for_who_says_so(box: Instance) -> None:
    admin = client_of("admin")
    answer = admin.post("/prices/", form(valid_from="2025-01-01"))
    assert answer.status_code == 409
    assert b"months that are over would move" in answer.content
    assert not Price.objects.filter(is_suggested=False).exists()
    assert admin.post("/prices/", form(valid_from="2025-01-01", moves_past="on")).status_code == 302


def test_what_the_file_manages_is_not_changed_here(box: Instance) -> None:
    admin = client_of("admin")
    row = Price.objects.create(
        gpu_model="H100",
        unit="gpu_hour",
        price=2,
        currency="USD",
        valid_from=BEGINNING,
        source="x",
        declared={"price": "2"},
    )
    assert admin.post("/prices/", form()).status_code == 409
    assert admin.post("/prices/", {"act": "end", "price": str(row.pk)}).status_code == 409
    row.refresh_from_db()
    assert (row.valid_to, Price.objects.filter(is_suggested=False).count()) == (None, 1)
    assert not AuditEvent.objects.filter(action__in=["set_price", "end_price"]).exists()


@pytest.mark.parametrize("more", [{"price": "-1"}, {"gpu_model": ""}, {"valid_to": "2020-01-01"}, {"currency": "usd"}])
def test_bad_prices_change_nothing(box: Instance, more: dict[str, str]) -> None:
    assert client_of("finance").post("/prices/", form(**more)).status_code == 400
    assert not Price.objects.filter(is_suggested=False).exists()


def test_viewers_look_and_teams_do_not(box: Instance) -> None:
    viewer = client_of("viewer")
    assert viewer.get("/prices/").status_code == 200
    assert viewer.post("/prices/", form()).status_code == 403
    assert client_of("team_lead", Team.objects.get(name="nlp")).get("/prices/").status_code == 403
