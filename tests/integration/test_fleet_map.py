"""The map of the fleet: what it counts, what it draws, who sees it, and that it agrees with the table."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from fleet.models import Gpu, Verdict
from fleet.queries import fleet_map as cells_query
from fleet.tables import fleet_map as drawing
from people.models import Team
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


def fleet(teams: dict[str, Team]) -> datetime:
    """Two working machines (one has lost two GPUs), one held, one that nobody sees, one stopped, one unknown host."""
    now = datetime.now(UTC)
    machine("vis-01", teams["vision"], "working", now=now)
    short = machine("vis-02", teams["vision"], "working", now=now, price="10.00")
    lost = Gpu.objects.filter(instance=short, index__gte=6).values_list("pk", flat=True)
    Verdict.objects.filter(subject_kind="gpu", subject_id__in=list(lost)).update(state="unknown", reason="no_data")
    machine("nlp-01", teams["nlp"], "held", now=now)
    unseen = machine("nlp-02", teams["nlp"], "unknown", now=now, price="")
    unseen.gpus.all().delete()
    stopped = machine("rob-01", teams["robotics"], "stopped", now=now)
    stopped.state = "stopped"
    stopped.save()
    machine("stray", None, "empty", now=now, account=False, price="")
    gone = machine("old", teams["vision"], "working", now=now)
    gone.state = "terminated"
    gone.save()
    return now


def test_gpus_and_machines_are_counted_by_state_with_their_money(admin: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    page = text_of(admin.get("/fleet/").content)
    assert "48 GPUs on 6 machines. 16 GPUs are idle. 10 can’t be seen at the moment." in page
    assert "Working 14 GPUs 29.2 % 2 machines $42.80 / h" in page
    assert "Held 8 GPUs 16.7 % 1 machine $32.80 / h" in page
    assert "Empty 8 GPUs 16.7 % 1 machine + 1 unpriced" in page
    assert "Unknown 10 GPUs 20.8 % 1 machine + 1 unpriced" in page
    assert "Stopped 8 GPUs 16.7 % 1 machine" in page


def test_what_is_not_seen_is_said_at_once_and_one_click_lists_it(admin: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    content = admin.get("/fleet/").content.decode()
    assert "One machine is not seen" in content
    assert "2 GPUs are missing" in content
    links = dict(re.findall(r'href="(/instances/\?seen=(?:no|missing))"><strong>([^<]*)', content))
    assert links == {
        "/instances/?seen=no": "One machine is not seen",
        "/instances/?seen=missing": "2 GPUs are missing",
    }
    assert names(admin, "/instances/?seen=no") == ["nlp-02"]
    assert names(admin, "/instances/?seen=missing") == ["vis-02"]


def names(client: Client, address: str) -> list[str]:
    content = client.get(address).content.decode()
    return re.findall(r'<th scope="row" class="pin"><a class="quiet" href="[^"]*">([^<]*)</a>', content)


def test_map_and_table_agree_for_every_state(admin: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    context = admin.get("/fleet/").context
    for standing, href in context["standings"]:
        totals = admin.get(href).context["totals"]
        assert (totals.count, dict(totals.per_hour), totals.unpriced) == (
            standing.machines, dict(standing.per_hour), standing.unpriced,
        ), standing.state  # fmt: skip


def test_groups_are_drawn_with_a_name_and_words_for_who_does_not_see(admin: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    content = admin.get("/fleet/?group=team").content.decode()
    assert re.findall(r'<section class="fleet-group"[^>]*aria-label="([^"]*)"', content) == [
        "nlp", "vision", "robotics", "Unassigned",
    ]  # fmt: skip
    assert 'aria-label="vis-02: Working 6, Unknown 2"' in content
    assert content.count('<i class="working"></i>') == 14
    assert 'href="/instances/lab/vis-02/"' in content
    assert "old" not in re.findall(r'title="(\w+)', content)


def test_a_group_of_a_team_leads_to_the_machines_of_that_team_alone(admin: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    machine("eval-01", teams["nlp-eval"], "working", now=datetime.now(UTC))
    groups = {one.key: (one.machines, href) for one, href, _switch in admin.get("/fleet/?group=team").context["groups"]}
    assert groups["nlp"][0] == 2
    assert names(admin, groups["nlp"][1].replace("&amp;", "&")) == ["nlp-01", "nlp-02"]
    assert names(admin, "/instances/?team=nlp") == ["eval-01", "nlp-01", "nlp-02"]


def test_a_large_fleet_is_drawn_by_machines_and_opens_group_by_group(
    admin: Client, teams: dict[str, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet(teams)
    monkeypatch.setattr(drawing, "MOST_CELLS", 40)
    content = admin.get("/fleet/?group=team").content.decode()
    assert content.count('class="dot ') == 6
    assert 'class="dot mixed unknown" href="/instances/lab/vis-02/"' in content
    assert "<i class=" not in content
    opened = admin.get("/fleet/?group=team&open=vision").content.decode()
    assert opened.count("<i class=") == 16
    assert opened.count('class="dot ') == 4
    monkeypatch.setattr(drawing, "MOST_CELLS", 4)
    closed = admin.get("/fleet/?group=team").content.decode()
    assert 'class="dot ' not in closed
    assert "Show machines" in closed
    assert admin.get("/fleet/?group=team&open=vision").content.decode().count('class="dot ') == 2


def test_another_teams_machines_are_neither_drawn_nor_counted(client: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    client.force_login(person("lead@example.com", ("team_lead", teams["vision"])))
    page = client.get("/fleet/?group=team")
    assert "16 GPUs on 2 machines." in text_of(page.content)
    assert [one.key for one, _href, _switch in page.context["groups"]] == ["vision"]
    for word in ("nlp", "rob-", "stray", "One machine is not seen"):
        assert word not in text_of(page.content)
    assert client.get("/fleet/?team=nlp").status_code == 404
    assert client.get("/fleet/?team=-").status_code == 404


def test_filters_narrow_and_nothing_left_says_so(admin: Client, teams: dict[str, Team]) -> None:
    fleet(teams)
    assert "8 GPUs on one machine." in text_of(admin.get("/fleet/?q=nlp+01").content)
    assert "No machine fits these filters" in text_of(admin.get("/fleet/?q=nothing").content)
    assert admin.get("/fleet/?group=owner").status_code == 400


def test_it_asks_at_most_twelve_questions(
    admin: Client, teams: dict[str, Team], django_assert_max_num_queries: Any
) -> None:
    fleet(teams)
    with django_assert_max_num_queries(12):
        admin.get("/fleet/?group=team&open=vision")


def test_devices_beyond_the_inventory_and_slices_count_as_they_should() -> None:
    assert cells_query._cells("0033", 6, False) == (("working", "working", "held", "held", "unknown", "unknown"), 2)
    assert cells_query._cells("000", 2, False) == (("working",) * 3, 0)
    assert cells_query._cells("", 2, True) == (("stopped", "stopped"), 2)
