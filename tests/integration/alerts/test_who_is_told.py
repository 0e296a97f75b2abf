"""Routes, teams and people decide who gets a message."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from alerts.actions.alerts import raise_alerts
from alerts.domain.occurrence import Occurrence
from alerts.models import Alert, Channel, Delivery, Message
from people.models import RoleGrant, Team, User
from people.queries import recipients, team_lineages

pytestmark = pytest.mark.django_db
Make = Callable[..., Occurrence]
Declare = Callable[..., None]
MAIL: dict[str, Any] = {"mail": ("email", {})}


def person(email: str, role: str, team: Team | None = None, *, active: bool = True) -> None:
    user = User.objects.create(email=email, is_active=active)
    RoleGrant.objects.create(user=user, role=role, team=team)


@pytest.fixture
def teams() -> dict[str, Team]:
    research = Team.objects.create(name="Research")
    nlp = Team.objects.create(name="nlp", parent=research)
    speech = Team.objects.create(name="speech", parent=nlp)
    person("admin@example.com", "admin")
    person("boss@example.com", "team_lead", research)
    person("lead@example.com", "team_lead", nlp)
    person("gone@example.com", "team_lead", speech, active=False)
    return {"research": research, "nlp": nlp, "speech": speech}


def told() -> list[tuple[str, str]]:
    return list(Delivery.objects.order_by("pk").values_list("channel__name", "to"))


@pytest.mark.parametrize(
    ("owner", "team", "addresses"),
    [
        ("dev@example.com", "nlp", ["dev@example.com"]),
        (" Dev@Example.com", "nlp", ["dev@example.com"]),
        ("gone@example.com", "speech", ["lead@example.com"]),
        ("", "speech", ["lead@example.com"]),
        ("uid1000", "research", ["boss@example.com"]),
        ("arn:aws:sts::1:role/x@y", "research", ["boss@example.com"]),
        ("a@b.test\nBcc: c@d.test", "research", ["boss@example.com"]),
        ("", None, ["admin@example.com"]),
    ],
)
def test_mail_goes_to_the_owner_else_leads_else_admins(
    teams: dict[str, Team], owner: str, team: str | None, addresses: list[str]
) -> None:
    reader = (owner, teams[team].pk if team else None)
    assert recipients([reader]) == {reader: addresses}


def test_a_circle_of_parents_ends(teams: dict[str, Team]) -> None:
    Team.objects.filter(pk=teams["research"].pk).update(parent=teams["speech"])
    assert team_lineages([teams["nlp"].pk]) == {teams["nlp"].pk: ("nlp", "Research", "speech")}


def test_a_route_of_a_parent_team_takes_it(
    teams: dict[str, Team], declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare(
        {"hook": ("webhook", {"url": "https://x.test"}), **MAIL},
        ({"teams": ["research"]}, ["hook"], []),
        ({}, ["mail"], []),
    )
    raise_alerts([occurrence(team_id=teams["speech"].pk), occurrence(subject="i-2")], now=now)
    assert told() == [("hook", ""), ("mail", "dev@example.com")]


def test_without_a_route_there_is_an_alert_and_no_message(occurrence: Make, now: datetime) -> None:
    assert raise_alerts([occurrence()], now=now) == 1
    assert (Alert.objects.count(), Message.objects.count()) == (1, 0)


def test_kinds_that_nobody_asked_for_are_not_told(declare: Declare, occurrence: Make, now: datetime) -> None:
    declare(
        {"mail": ("email", {"to": "a@example.com"}), "ops": ("email", {"to": ["b@example.com", "c@example.com"]})},
        ({}, ["mail"], []), ({"kinds": ["xid"]}, ["ops"], []),
    )  # fmt: skip
    raise_alerts([occurrence(rule=kind, kind=kind) for kind in ("unpriced", "xid", "gpu_lost")], now=now)
    assert Alert.objects.count() == 3
    assert told() == [("ops", "b@example.com"), ("ops", "c@example.com"), ("mail", "a@example.com")]


def test_nobody_to_mail_goes_to_the_fallback(declare: Declare, occurrence: Make, now: datetime) -> None:
    declare({**MAIL, "hook": ("webhook", {"url": "https://x.test"})}, ({}, ["mail"], ["hook"]))
    raise_alerts([occurrence(owner="")], now=now)
    assert list(Delivery.objects.values_list("channel__name", "is_fallback")) == [("hook", True)]


def test_a_broken_channel_is_left_out_in_view(declare: Declare, occurrence: Make, now: datetime) -> None:
    declare({**MAIL, "hook": ("webhook", {"url": "https://x.test"})}, ({}, ["hook"], ["mail"]))
    Channel.objects.filter(name="hook").update(broken_at=now, broken_reason="410")
    raise_alerts([occurrence()], now=now)
    assert list(Delivery.objects.order_by("pk").values_list("channel__name", "state", "is_fallback")) == [
        ("hook", "failed", False), ("mail", "waiting", True),
    ]  # fmt: skip


def test_queries_do_not_grow_with_alerts(
    declare: Declare, occurrence: Make, now: datetime, django_assert_max_num_queries: Any
) -> None:
    declare(MAIL, ({}, ["mail"], []))
    with django_assert_max_num_queries(20):
        assert raise_alerts([occurrence(subject=f"i-{number}") for number in range(300)], now=now) == 300
    assert Delivery.objects.count() == 300
