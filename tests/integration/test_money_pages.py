"""Teams, a team and the queue of what has no team: the same numbers as `spend`, claims that lose nothing."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from django.test import Client

from billing.queries.spend import spend
from common.periods import month_period
from fleet.models import Claim, Instance
from people.models import AuditEvent, Team
from people.queries import organization_zone
from tests.support.doors import door
from tests.support.page_data import company, machine, machine_day, person, team_day

pytestmark = pytest.mark.django_db
JUNE = date(2025, 6, 3)


@pytest.fixture
def teams() -> dict[str, Team]:
    found = company()
    Team.objects.filter(name__startswith="nlp").update(cost_center="R-100")
    for name, amount in (("nlp", "1.005"), ("nlp-eval", "20.25"), ("vision", "300"), ("", "0.015")):
        team_day(JUNE, found.get(name), {"working": amount, "held": "0.5"}, {"working": 2, "held": 1}, storage="0.01")
    return found


def signed_in(*grants: tuple[str, Team | None], email: str = "someone@example.com") -> Client:
    client = Client()
    client.force_login(person(email, *grants))
    return client


def rows_of(client: Client, address: str) -> list[dict[str, str]]:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))


def test_files_equal_the_door_of_spend_to_the_last_digit(teams: dict[str, Team]) -> None:
    client = signed_in(("finance", None))
    for by, group in (("each", "team"), ("cost_center", "cost_center")):
        told = door("spend", "--month", "2025-06", "--group-by", group)
        rows = rows_of(client, f"/teams/?month=2025-06&by={by}&as=csv-raw")
        assert sum(Decimal(row["spent"]) for row in rows) == Decimal(told["totals"]["USD"]) == Decimal("323.31")
        wanted = {row["key"][group]: row for row in told["rows"]}
        for row in rows:
            if row["name"] in wanted:
                one = wanted[row["name"]]
                assert Decimal(row["spent"]) == Decimal(one["total"])
                assert Decimal(row["held"]) == Decimal(one["by_state"]["held"])
                assert Decimal(row["hours_held"]) == Decimal(one["gpu_hours"]["held"])
    folded = {row["name"]: Decimal(row["spent"]) for row in rows_of(client, "/teams/?month=2025-06&as=csv-raw")}
    assert folded == {
        "nlp": Decimal("22.275"), "vision": Decimal("300.51"), "Unassigned": Decimal("0.525")
    }  # fmt: skip
    centers = {
        row["name"]: Decimal(row["spent"]) for row in rows_of(client, "/teams/?month=2025-06&by=cost_center&as=csv-raw")
    }
    assert centers == {"R-100": Decimal("22.275"), "No cost centre": Decimal("300.51"), "Unassigned": Decimal("0.525")}


def test_the_overview_the_table_and_the_team_say_one_number(teams: dict[str, Team]) -> None:
    client = signed_in(("viewer", None))
    total = spend(month_period("2025-06", organization_zone())).totals["USD"]
    assert f"${total:,.2f}" in client.get("/teams/?month=2025-06").content.decode()
    assert f"<strong>${total:,.2f}</strong>" in client.get("/?month=2025-06").content.decode()
    page = client.get("/teams/nlp/?month=2025-06").content.decode()
    assert "<strong>$22.28</strong>" in page
    assert "nlp-eval" in page
    assert client.get("/teams/no-such/").status_code == 404


def test_what_ran_on_machines_of_others_is_one_row_without_a_name(teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    own, other = machine("nlp-1", teams["nlp"], "held", now=now), machine("vis-1", teams["vision"], "held", now=now)
    for box, amount in ((own, "5.00"), (other, "7.00")):
        machine_day(JUNE, box, teams["nlp"], {"working": amount}, {"working": 1})
    client = signed_in(("engineer", teams["nlp"]))
    rows = {row["name"]: row["spent"] for row in rows_of(client, "/teams/nlp/?month=2025-06&as=csv-raw")}
    assert {name: Decimal(spent) for name, spent in rows.items()} == {"nlp-1": 5, "On machines of others": 7}
    assert b"vis-1" not in client.get("/teams/nlp/?month=2025-06").content


def test_views_by_role_and_their_switch(teams: dict[str, Team]) -> None:
    lead = signed_in(("team_lead", teams["nlp"]), ("engineer", teams["vision"]))
    assert b"Which team wastes most" in lead.get("/").content
    assert b"My machines" in lead.get("/?as=engineer").content
    assert lead.get("/?as=finance").status_code == 400
    finance = signed_in(("finance", None), email="f@example.com")
    assert b"By cost centre" in finance.get("/").content


def test_an_engineer_sees_what_is_idle_and_claims_only_what_points_to_the_team(teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    machine("nlp-1", teams["nlp"], "held", now=now)
    tagged, secret = machine("box-a", None, "held", now=now), machine("box-b", None, "held", now=now)
    Instance.objects.filter(pk=tagged.pk).update(attributes={"tags": {"owner_team": "nlp"}})
    Instance.objects.filter(pk=secret.pk).update(attributes={"owner": "nobody"})
    client = signed_in(("engineer", teams["nlp"]))
    page = client.get("/").content.decode()
    assert "nlp-1" in page
    assert "One of your machines is idle." in page
    queue = client.get("/unassigned/").content.decode()
    assert "box-a" in queue
    assert "box-b" not in queue

    def post(box: Instance, team: str) -> int:
        form = {"act": "claim", "kind": "instance", "id": str(box.pk), "team": team, "since": "beginning"}
        return client.post("/unassigned/", form).status_code

    assert post(secret, "nlp") == 404
    assert post(tagged, "vision") == 404
    assert not Claim.objects.exists()
    assert post(tagged, "nlp") == 302
    assert post(tagged, "nlp") == 404, "it has left the queue"
    made = Claim.objects.get()
    assert AuditEvent.objects.get(action="claim").by == "someone@example.com"
    viewer = signed_in(("viewer", None), email="v@example.com")
    assert viewer.post("/unassigned/", {"act": "take_back", "claim": str(made.pk)}).status_code == 403
    assert client.post("/unassigned/", {"act": "take_back", "claim": str(made.pk)}).status_code == 302
    assert not Claim.objects.exists()


def test_the_second_of_two_admins_is_told(teams: dict[str, Team]) -> None:
    box = machine("box-a", None, "held", now=datetime.now(UTC))
    form = {"act": "claim", "kind": "instance", "id": str(box.pk), "team": "nlp", "since": "now"}
    first, second = signed_in(("admin", None)), signed_in(("admin", None), email="b@example.com")
    assert first.post("/unassigned/", form).status_code == 302
    answer = second.post("/unassigned/", {**form, "team": "vision"})
    assert answer.status_code == 409
    assert b"Somebody else has claimed it in the meantime." in answer.content
    assert Claim.objects.get().team == teams["nlp"]
