"""What the pages show, over the API: the same figures, for the same people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from common.money import plain
from fleet.models import Finding, Instance, Job, OwnershipRule, Verdict
from people.actions.tokens import create_token
from people.models import Installation, Organization
from people.roles import ROLE_ORDER
from tests.integration.api.test_others import CAST, assert_only, client_of
from tests.support.api_more import add_more, save_a_view
from tests.support.api_world import MARKS, ApiWorld, api_world, fetched, somebody
from tests.support.money_world import World, utc
from tests.support.money_world import world as metered

__all__ = ["metered"]
pytestmark = pytest.mark.django_db
NOW = utc("2025-06-03T12:00")


@pytest.fixture
def world() -> ApiWorld:
    made = api_world(datetime.now(UTC).replace(microsecond=0))
    add_more(made)
    return made


@pytest.fixture
def priced(metered: World) -> Client:
    """Two teams, a machine with a job, one without a price, a machine of nobody; metered until noon."""
    Organization.objects.update_or_create(pk=1, defaults={"time_zone": "UTC", "currency": "USD"})
    Installation.objects.update_or_create(pk=1, defaults={"clock": "replay", "world_at": NOW})
    red = metered.team("red", cost_center="4100")
    sub = metered.team("red-eval", parent=red, cost_center="4200")
    OwnershipRule.objects.create(
        valid_from=utc("1970-01-01T00:00"), position=0, spec={"team_from": {"label": "namespace"}}
    )
    for name, team, price in (("i-1", red, "4.00"), ("i-2", sub, None), ("i-3", None, "1.10")):
        box = metered.instance(name, [("2025-06-03T08:00", "running")], price=price, labels={}, gpu_model="H100")
        gpu = metered.gpu(box, since="2025-06-03T08:00", model="H100")
        metered.sample(gpu, "2025-06-03T08:00", "2025-06-03T12:00", 90)
        if team is not None:
            job = metered.job([gpu], f"{team.name}/train", "2025-06-03T08:00", namespace=team.name)
            Job.objects.filter(pk=job.pk).update(team=team)
        Instance.objects.filter(pk=box.pk).update(team=team)
        Verdict.objects.create(
            subject_kind="instance", subject_id=box.pk, start=utc("2025-06-03T09:00"), state="working", reason="busy",
            evidence={},
        )  # fmt: skip
    metered.settle("2025-06-03T12:00")
    return somebody("ingrid@example.com", ("admin", None))[1]


def rows(client: Client, address: str, key: str = "results") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = fetched(client, f"/api/v1/{address}")[key]
    return found


def test_a_team_month_says_what_spend_says(priced: Client) -> None:
    by_team = {row["key"]["team"]: row for row in rows(priced, "spend/?month=2025-06&group_by=team", "rows")}
    months = {row["team"]: row for row in rows(priced, "team-months/?month=2025-06")}
    assert set(months) == set(by_team) == {"red", "red-eval", None}
    for team, spent in by_team.items():
        mine = months[team]
        assert mine["total"] == spent["total"]
        assert mine["by_state"] == {state: spent["by_state"][state] for state in mine["by_state"]}
        assert mine["gpu_hours"] == spent["gpu_hours"]
        assert (mine["unpriced_gpu_hours"], mine["special"]) == (spent["unpriced_gpu_hours"], spent["special"])
    assert months["red"]["total"] == "16.00"
    assert months["red"]["gpu_hours"]["working"] == "4.00"
    assert (months["red"]["utilization_pct"], months["red"]["cost_center"], months["red"]["idle_machines"]) == (
        100.0, "4100", 0,
    )  # fmt: skip
    assert months["red-eval"]["total"] is None
    assert months["red-eval"]["unpriced_gpu_hours"] == "4.00"
    assert [row["idle_machines"] for row in rows(priced, "team-months/?month=2025-05")] == []


def test_sub_teams_fold_and_cost_centres_add_up(priced: Client) -> None:
    (red, nobody) = rows(priced, "team-months/?month=2025-06&by=team")
    assert (red["team"], red["sub_teams"], red["total"], red["unpriced_gpu_hours"]) == ("red", 1, "16.00", "4.00")
    assert (nobody["special"], nobody["total"]) == ("unassigned", "4.40")
    centers = rows(priced, "team-months/?month=2025-06&by=cost_center")
    assert {(row["cost_center"], row["special"]): row["total"] for row in centers} == {
        ("4100", None): "16.00", ("4200", None): None, (None, "unassigned"): "4.40",
    }  # fmt: skip
    fetched(priced, "/api/v1/team-months/?month=June", 400)
    fetched(priced, "/api/v1/team-months/?by=owner", 400)


def test_a_job_says_what_spend_says(priced: Client) -> None:
    spent = {row["key"]["job"]: row for row in rows(priced, "spend/?month=2025-06&group_by=job", "rows")}
    jobs = {row["id"]: row for row in rows(priced, "jobs/")}
    assert set(jobs) == set(spent) - {None}
    assert jobs["red/train"]["gpu_hours"] == spent["red/train"]["gpu_hours"]
    assert jobs["red/train"]["cost"] == {"USD": spent["red/train"]["total"]} == {"USD": "16.00"}
    assert (jobs["red/train"]["machines"], jobs["red/train"]["gpus"], jobs["red/train"]["has_unpriced"]) == (
        1,
        1,
        False,
    )
    assert (jobs["red-eval/train"]["cost"], jobs["red-eval/train"]["has_unpriced"]) == ({}, True)
    record = fetched(priced, "/api/v1/jobs/-/red/train/")
    listed = dict(jobs["red/train"])
    assert {key: record[key] for key in listed} == listed
    assert record["places"] == [
        {"instance": "i-1", "account": "acct", "gpus": 1, "start": "2025-06-03T08:00:00Z", "end": None}
    ]
    assert record["labels"] == {"namespace": "red"}
    assert fetched(priced, "/api/v1/jobs/-/red/train/?started=2025-06-01T00:00:00Z", 404)


def test_jobs_by_advice_source_and_when_they_ran(priced: Client) -> None:
    job = Job.objects.get(external_id="red/train")
    Job.objects.exclude(pk=job.pk).update(ended_at=NOW - timedelta(hours=1))
    Finding.objects.create(
        kind="low_utilization", subject_kind="job", subject_id=job.pk, subject_name=job.external_id, episode=NOW,
        since=NOW, opened_at=NOW, evidence={"mean_pct": 12, "memory_pct": 20}, team=job.team,
    )  # fmt: skip
    for query, names in {
        "advice=true": ["red/train"],
        "advice=false": ["red-eval/train"],
        "source=none": [],
        "ran_since=2025-06-03T11:30:00Z": ["red/train"],
        "ran_since=2025-06-03T10:00:00Z": ["red-eval/train", "red/train"],
    }.items():
        assert [row["id"] for row in rows(priced, f"jobs/?{query}")] == names, query
    assert rows(priced, "jobs/?advice=true")[0]["advice"] == {"mean_pct": 12, "memory_pct": 20}


def test_instances_tell_their_month_and_their_use(priced: Client) -> None:
    spent = {row["key"]["instance"]: row for row in rows(priced, "spend/?month=2025-06&group_by=instance", "rows")}
    found = {row["instance"]: row for row in rows(priced, "instances/")}
    assert found["i-1"]["month_cost"] == {"USD": spent["i-1"]["total"]} == {"USD": "16.00"}
    assert (found["i-1"]["used_pct"], found["i-1"]["month_has_unpriced"]) == (100.0, False)
    assert (found["i-2"]["month_cost"], found["i-2"]["month_has_unpriced"]) == ({}, True)
    assert (found["i-1"]["gpu_model"], found["i-1"]["gpu_count"]) == ("H100", 1)


def test_what_is_unassigned_costs_what_spend_says(priced: Client) -> None:
    Instance.objects.filter(external_id="i-3").update(attributes={"tags": {"owner_team": "RED"}})
    (spent,) = [row for row in rows(priced, "spend/?month=2025-06", "rows") if row["special"] == "unassigned"]
    (one,) = rows(priced, "unassigned/")
    assert one["spent"] == {"USD": spent["total"]} == {"USD": "4.40"}
    assert (one["kind"], one["id"], one["currency"], one["price_per_hour"]) == (
        "instance",
        "i-3",
        "USD",
        plain(Decimal("1.10")),
    )
    assert [(each["team"], each["kind"], each["is_strong"]) for each in one["suggestions"]] == [
        ("red", "tag", True), ("red-eval", "neighbours", False),
    ]  # fmt: skip
    assert rows(priced, "unassigned/?kind=job") == []
    red = Instance.objects.get(external_id="i-1").team
    _, member = somebody("ada@example.com", ("engineer", red))
    assert [row["id"] for row in rows(member, "unassigned/")] == ["i-3"]
    Instance.objects.filter(external_id="i-3").update(attributes={})
    assert rows(member, "unassigned/") == []


SEEN = ("team-months/?by=each", "team-months/?by=team", "unassigned/", "claims/", "unseen/", "roles/", "views/")


@pytest.mark.parametrize("who", CAST)
def test_nothing_of_other_teams(world: ApiWorld, who: str) -> None:
    client, seen = client_of(who, world), CAST[who][1]
    for address in SEEN:
        answer = client.get(f"/api/v1/{address}")
        assert answer.status_code == 200, address
        assert_only(answer.content.decode(), seen)
    assert {row["instance"] for row in rows(client, "unseen/")} == {f"lost-{MARKS[name]}" for name in seen}
    totals = {row["total"] for row in rows(client, "team-months/?by=each")}
    assert totals == {f"{MARKS[name]}.00" for name in seen}
    for name, mark in MARKS.items():
        assert client.get(f"/api/v1/jobs/-/job-{mark}/").status_code == (200 if name in seen else 404)


def test_a_lead_sees_the_people_and_invitations_of_their_teams(world: ApiWorld) -> None:
    somebody("vera@example.com", ("engineer", world.teams["vision"]))
    _, lead = somebody("lead@example.com", ("team_lead", world.teams["nlp"]))
    assert [row["email"] for row in rows(lead, "people/")] == ["lead@example.com"]
    assert {row["email"] for row in rows(lead, "invitations/")} == {f"new-{n}@example.com" for n in ("1001", "1020")}
    _, admin = somebody("ingrid@example.com", ("admin", None))
    assert len(rows(admin, "people/")) == 4
    assert len(rows(admin, "invitations/")) == 5
    made = create_token(now=world.now, by="x", owner="ingrid@example.com", name="ci", days=9, team="NLP")
    narrow = Client(headers={"Authorization": f"Bearer {made.secret}"})
    assert [row["email"] for row in rows(narrow, "people/")] == ["lead@example.com"]
    assert len(rows(narrow, "invitations/")) == 2
    for address in ("settings", "accounts", "passes", "sources/prom-main"):
        fetched(narrow, f"/api/v1/{address}/", 403)
    assert_only(narrow.get("/api/v1/claims/").content.decode(), {"nlp", "nlp-eval"})


def test_a_source_in_full(world: ApiWorld) -> None:
    _, admin = somebody("ingrid@example.com", ("admin", None))
    one = fetched(admin, "/api/v1/sources/prom-main/")
    assert (len(one["half_hours"]), one["targets_down"], one["coverage_pct"]) == (48, 1, 97.5)
    assert [(row["name"], row["is_up"]) for row in one["targets"]] == [("dcgm/box-1001:9400", False)]
    assert [row["error"] and row["error"]["code"] for row in one["pulls"]] == ["refused", None]
    assert one["dropped"] == [{"kind": "frozen", "signal": "power", "count": 7}]
    passes = {row["name"]: (row["shard"], row["failures"], row["error_code"]) for row in rows(admin, "passes/")}
    assert passes == {"collect": ("prom-main", 2, "refused"), "judge": (None, 0, None)}
    assert [(row["name"], row["instances"]) for row in rows(admin, "accounts/")] == [("lab", {"running": 10})]


def test_settings_are_what_apply_takes(world: ApiWorld) -> None:
    _, admin = somebody("ingrid@example.com", ("admin", None))
    found = fetched(admin, "/api/v1/settings/")
    assert found["fleet_yaml"].encode() == admin.get("/settings/fleet.yaml").content
    assert [one["name"] for one in found["settings"]["teams"]] == ["nlp", "nlp-eval", "vision", "robotics"]
    assert found["applied"]["file"] == "fleet.yaml"


def test_roles_and_saved_views(world: ApiWorld) -> None:
    user, client = somebody("ada@example.com", ("engineer", world.teams["nlp"]))
    save_a_view(user, world)
    assert [row["name"] for row in rows(client, "views/")] == ["mine"]
    assert rows(somebody("b@example.com", ("viewer", None))[1], "views/") == []
    table = {row["right"]: row for row in rows(client, "roles/")}
    assert table["see"]["roles"] == list(ROLE_ORDER)
    assert (table["manage_people"]["roles"], table["manage_people"]["whole_only"]) == (["admin"], True)
