"""Rule 9 at the API: nobody sees another team's data in rows, counts, totals, pages or errors."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from fleet.models import Gpu, GpuUse, Job
from people.actions.tokens import create_token
from tests.support.api_world import MARKS, ApiWorld, all_rows, api_world, fetched, metered_month, somebody

pytestmark = pytest.mark.django_db
MONTH = metered_month(datetime.now(UTC))
LISTS = ("instances", "gpus", "jobs", "findings", "alerts", "deliveries", "teams", "fleet", f"runtime/?month={MONTH}")
CAST: dict[str, tuple[list[tuple[str, str | None]], set[str]]] = {
    "vision engineer": ([("engineer", "vision")], {"vision"}),
    "nlp lead": ([("team_lead", "nlp")], {"nlp", "nlp-eval"}),
    "two teams": ([("engineer", "vision"), ("viewer", "robotics")], {"vision", "robotics"}),
    "finance": ([("finance", None)], set(MARKS)),
    "viewer": ([("viewer", None)], set(MARKS)),
}
ADDRESSES = [*(f"/api/v1/{name}{'' if '?' in name else '/'}" for name in LISTS), f"/api/v1/spend/?month={MONTH}"]
ADDRESSES += [
    f"/api/v1/spend/?month={MONTH}&group_by={by}" for by in ("instance", "owner", "account,day", "cost_center")
]
ADDRESSES += ["/api/v1/sources/", "/api/v1/idle/"]


@pytest.fixture
def world() -> ApiWorld:
    return api_world(datetime.now(UTC).replace(microsecond=0))


def client_of(who: str, world: ApiWorld) -> Client:
    grants = [(role, world.teams[team] if team else None) for role, team in CAST[who][0]]
    return somebody("someone@example.com", *grants)[1]


def assert_only(text: str, seen: set[str]) -> None:
    for name, mark in MARKS.items():
        if name in seen:
            continue
        assert not re.search(rf"(?<!\d){mark}(?!\d)", text), (name, text)
        if name and not any(name in one for one in seen):
            assert not re.search(rf"\b{name}\b", text), name


@pytest.mark.parametrize("who", CAST)
def test_an_answer_holds_nothing_of_other_teams(world: ApiWorld, who: str) -> None:
    client = client_of(who, world)
    for address in ADDRESSES:
        answer = client.get(address)
        assert answer.status_code == 200, address
        text = answer.content.decode()
        assert_only(text, CAST[who][1])
        if "group_by" not in address and "sources" not in address:
            for name in CAST[who][1] if "teams" not in address else CAST[who][1] - {""}:
                assert (MARKS[name] in text) or (name and f'"{name}"' in text), (name, "should be there")


@pytest.mark.parametrize("who", CAST)
def test_pages_end_where_the_visible_rows_end(world: ApiWorld, who: str) -> None:
    client = client_of(who, world)
    for name in LISTS:
        rows = all_rows(client, f"/api/v1/{name}{'' if '?' in name else '/'}", 3)
        per_team = {"gpus": 8, "findings": 2}.get(name, 1)
        teams = CAST[who][1] - ({""} if name == "teams" else set())
        assert len(rows) == per_team * len(teams), name


@pytest.mark.parametrize("who", CAST)
def test_a_record_of_another_team_does_not_exist(world: ApiWorld, who: str) -> None:
    client = client_of(who, world)
    missing = client.get("/api/v1/instances/lab/no-such-box/")
    assert missing.status_code == 404
    for name, mark in MARKS.items():
        answer = client.get(f"/api/v1/instances/lab/box-{mark}/")
        assert answer.status_code == (200 if name in CAST[who][1] else 404)
        if name not in CAST[who][1]:
            assert answer.content == missing.content
        else:
            assert_only(answer.content.decode(), CAST[who][1])


def test_filtering_for_another_team_finds_no_such_team(world: ApiWorld) -> None:
    client = client_of("vision engineer", world)
    for name in (*LISTS[:6], f"runtime/?month={MONTH}", f"spend/?month={MONTH}"):
        start = f"/api/v1/{name}{'&' if '?' in name else '/?'}team="
        unknown = client.get(f"{start}no-such-team")
        for team in ("robotics", "-", "no-such-team"):
            answer = client.get(f"{start}{team}")
            assert (answer.status_code, answer.content) == (404, unknown.content), name


def test_the_job_of_another_team_on_ones_machine_is_not_told(world: ApiWorld) -> None:
    gpu = Gpu.objects.get(uuid="GPU-box-1300-5")
    GpuUse.objects.create(gpu=gpu, job=Job.objects.get(external_id="job-4000"), start=world.now)
    client = client_of("vision engineer", world)
    (one,) = fetched(client, "/api/v1/instances/")["results"]
    assert [job["id"] for job in one["jobs"]] == ["job-1300"]
    assert one["gpus"][5]["jobs"] == []
    assert_only(client.get("/api/v1/gpus/").content.decode(), {"vision"})
    assert_only(client.get("/api/v1/instances/lab/box-1300/").content.decode(), {"vision"})
    (seen,) = [row for row in fetched(client_of_all(), "/api/v1/gpus/")["results"] if row["uuid"] == gpu.uuid]
    assert (seen["jobs"], seen["team"]) == (["job-4000"], "robotics")


def client_of_all() -> Client:
    return somebody("ingrid@example.com", ("admin", None))[1]


def test_what_sources_say_of_the_whole_fleet_is_for_those_who_see_it(world: ApiWorld) -> None:
    mine = fetched(client_of("vision engineer", world), "/api/v1/sources/")["results"]
    assert [(one["name"], one["gpus"], one["coverage_pct"], one["error"]) for one in mine] == [
        ("prom-main", None, None, None)
    ]


@pytest.mark.parametrize("name", ["prices", "audit"])
def test_lists_of_the_whole_organisation_are_for_its_roles(world: ApiWorld, name: str) -> None:
    refused = fetched(client_of("nlp lead", world), f"/api/v1/{name}/", 403)
    assert refused["error"]["code"] == "not_permitted"


def test_the_audit_trail_is_for_admins_and_finance(world: ApiWorld) -> None:
    for role, status in (("viewer", 403), ("engineer", 403), ("team_lead", 403), ("finance", 200), ("admin", 200)):
        _, client = somebody(f"{role}@example.com", (role, None))
        fetched(client, "/api/v1/audit/", status)


def test_a_token_of_a_team_shows_that_team_only(world: ApiWorld) -> None:
    somebody("ingrid@example.com", ("admin", None))
    made = create_token(now=world.now, by="x", owner="ingrid@example.com", name="ci", days=9, team="NLP")
    client = Client(headers={"Authorization": f"Bearer {made.secret}"})
    for address in ADDRESSES:
        assert_only(client.get(address).content.decode(), {"nlp", "nlp-eval"})
    fetched(client, "/api/v1/audit/", 403)
    fetched(client, "/api/v1/prices/", 403)
    assert len(fetched(client, "/api/v1/instances/")["results"]) == 2


def test_a_token_follows_the_rights_of_its_owner(world: ApiWorld) -> None:
    user, _ = somebody("ada@example.com", ("engineer", world.teams["nlp"]))
    made = create_token(now=world.now, by="x", owner="ada@example.com", name="ci", days=9, team="nlp")
    client = Client(headers={"Authorization": f"Bearer {made.secret}"})
    assert len(fetched(client, "/api/v1/instances/")["results"]) == 2
    user.grants.all().delete()
    assert fetched(client, "/api/v1/instances/", 403)["error"]["code"] == "not_permitted"
    user.grants.create(role="viewer", team=world.teams["vision"])
    assert fetched(client, "/api/v1/instances/", 403)["error"]["code"] == "not_permitted"
