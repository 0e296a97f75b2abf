"""Rule 9: nobody sees another team's data through any page: rows, totals, counts, pictures, files, refusals."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from django.test import Client

from fleet.models import Source, SourcePull
from people.models import Team
from people.queries import visible_team_ids
from people.roles import visible_teams
from tests.support.page_data import company, machine, person, team_day

pytestmark = pytest.mark.django_db
JUNE = date(2025, 6, 3)
# Every team has an amount of its own, so that any sum tells which teams are in it.
AMOUNTS = {"nlp": "1001", "nlp-eval": "1020", "vision": "1300", "robotics": "4000", "": "70707"}
PAGES = [
    "/",
    "/?month=2025-06",
    "/?as=manager&month=2025-06",
    "/teams/?month=2025-06",
    "/teams/?by=cost_center&as=csv",
    "/teams.csv?month=2025-06",
    "/idle/",
    "/idle/top/",
]


@pytest.fixture
def teams() -> dict[str, Team]:
    teams = company()
    now = datetime.now(UTC)
    for name, amount in AMOUNTS.items():
        team_day(JUNE, teams.get(name), {"working": amount}, {"working": 1})
        machine(f"box-{amount}", teams.get(name), "held", now=now, price=f"{amount}.25")
    return teams


CAST: dict[str, list[tuple[str, str | None]]] = {
    "vision engineer": [("engineer", "vision")],
    "nlp lead": [("team_lead", "nlp")],
    "nlp-eval viewer": [("viewer", "nlp-eval")],
    "two teams": [("engineer", "vision"), ("viewer", "robotics")],
    "finance of nlp": [("finance", "nlp")],
    "finance": [("finance", None)],
    "viewer": [("viewer", None)],
    "admin": [("admin", None)],
    "both": [("engineer", "vision"), ("viewer", None)],
}
ALL = set(AMOUNTS)
SEES = {
    "vision engineer": {"vision"}, "nlp lead": {"nlp", "nlp-eval"}, "nlp-eval viewer": {"nlp-eval"},
    "two teams": {"vision", "robotics"}, "finance of nlp": {"nlp", "nlp-eval"}, "finance": ALL, "viewer": ALL,
    "admin": ALL, "both": ALL,
}  # fmt: skip


def sign_in(client: Client, who: str, teams: dict[str, Team]) -> None:
    grants = [(role, teams[team] if team else None) for role, team in CAST[who]]
    client.force_login(person("someone@example.com", *grants))


def body(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.getvalue().decode()


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("who", CAST)
def test_a_page_holds_nothing_of_other_teams(client: Client, teams: dict[str, Team], who: str, address: str) -> None:
    sign_in(client, who, teams)
    page = body(client, address)
    for name in ALL - SEES[who]:
        assert AMOUNTS[name] not in page.replace(",", "")
        if name and not any(name in seen for seen in SEES[who]):
            assert not re.search(rf"\b{name}\b", page)
    if "" not in SEES[who]:
        assert "Unassigned" not in page


@pytest.mark.parametrize("who", CAST)
def test_totals_and_counts_are_of_visible_teams_only(client: Client, teams: dict[str, Team], who: str) -> None:
    sign_in(client, who, teams)
    page = body(client, "/?as=manager&month=2025-06")
    total = sum(float(AMOUNTS[name]) for name in SEES[who])
    assert f"<strong>${total:,.2f}</strong>" in page
    assert re.search(rf">{len(SEES[who])} machines?<", page)
    assert f"of {len(SEES[who])} GPU-hours seen" in page


@pytest.mark.parametrize("who", CAST)
def test_a_record_of_another_team_does_not_exist(client: Client, teams: dict[str, Team], who: str) -> None:
    sign_in(client, who, teams)
    missing = client.get("/instances/lab/no-such-box/")
    assert missing.status_code == 404
    for name, amount in AMOUNTS.items():
        answer = client.get(f"/instances/lab/box-{amount}/")
        if name in SEES[who]:
            assert answer.status_code == 200
        else:
            assert answer.status_code == 404
            assert answer.content == missing.content


@pytest.mark.parametrize(
    "address", ["/?team=robotics", "/?team=-", "/teams.csv?team=robotics", "/idle/?team=-", "/idle/top/?team=nlp"]
)
def test_filtering_for_a_team_that_may_not_be_seen_finds_no_such_team(
    client: Client, teams: dict[str, Team], address: str
) -> None:
    sign_in(client, "vision engineer", teams)
    assert client.get(address).status_code == 404
    assert client.get(address).content == client.get("/?team=no-such-team").content


@pytest.mark.parametrize("address", [*PAGES, "/instances/lab/box-1001/"])
def test_strangers_are_sent_to_the_sign_in_page(client: Client, teams: dict[str, Team], address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/?next=")
    assert answer.content == b""


def test_a_fragment_for_a_stranger_reloads_the_page(client: Client, teams: dict[str, Team]) -> None:
    answer = client.get("/idle/top/", headers={"HX-Request": "true"})
    assert (answer["HX-Refresh"], answer.content) == ("true", b"")


@pytest.mark.parametrize("address", [*PAGES, "/instances/lab/box-1001/"])
def test_without_a_grant_there_is_a_friendly_page_and_nothing_else(
    client: Client, teams: dict[str, Team], address: str
) -> None:
    client.force_login(person("new@example.com"))
    answer = client.get(address)
    assert answer.status_code == 403
    page = answer.content.decode().replace(address, "")  # what they asked for stands in the form of languages
    assert "Nothing to see yet" in page
    assert not re.search(r"\b(nlp|vision|robotics|box|1001)\b", page)


def test_errors_of_sources_are_for_those_who_see_everything(client: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    SourcePull.objects.create(
        source=Source.objects.get(),
        at=now,
        since=now,
        until=now,
        error_code="x",
        error_message="http://10.9.8.7 refused",
    )
    sign_in(client, "vision engineer", teams)
    page = body(client, "/")
    assert "Source prom-main does not answer as it should." in page
    assert "10.9.8.7" not in page


def test_a_deactivated_person_is_a_stranger(client: Client, teams: dict[str, Team]) -> None:
    user = person("gone@example.com", ("admin", None))
    client.force_login(user)
    user.is_active = False
    user.save()
    assert client.get("/").status_code == 302


def test_answers_are_kept_by_nobody_else(client: Client, teams: dict[str, Team]) -> None:
    sign_in(client, "admin", teams)
    for address in PAGES:
        assert set(client.get(address)["Cache-Control"].split(", ")) == {"private", "no-cache"}


def test_visible_teams_go_down_and_never_up(teams: dict[str, Team]) -> None:
    user = person("lead@example.com", ("team_lead", teams["nlp-eval"]))
    assert visible_team_ids(user) == frozenset({teams["nlp-eval"].pk})
    parents = {1: None, 2: 1, 3: 2, 4: None}
    assert visible_teams([1], parents) == frozenset({1, 2, 3})
    assert visible_teams([3], parents) == frozenset({3})
    assert visible_teams([4, None], parents) is None
    assert visible_teams([], parents) == frozenset()
    assert visible_teams([99], parents) == frozenset()
    assert visible_teams([1], {1: 2, 2: 1}) == frozenset({1, 2})
