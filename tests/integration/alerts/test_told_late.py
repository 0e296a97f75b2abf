"""Nobody is left untold: an alert older than its channel, and a message whose reader's address is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from alerts.actions.alerts import raise_alerts, resolve_alerts
from alerts.actions.deliver import deliver
from alerts.actions.untold import tell_untold
from alerts.domain.occurrence import Occurrence
from alerts.models import Alert, Channel, Delivery, Message, Route
from alerts.queries import deliveries_document
from common.effects import SIMULATED, Effects
from people.models import RoleGrant, Team, User
from tests.support.smtp import SmtpSink

pytestmark = pytest.mark.django_db
Make = Callable[..., Occurrence]
Declare = Callable[..., None]
OPS = {"ops": ("email", {"to": "ops@example.com"})}


def person(email: str, role: str, team: Team | None = None) -> None:
    RoleGrant.objects.create(user=User.objects.create(email=email), role=role, team=team)


def told() -> list[tuple[str, str]]:
    return list(Delivery.objects.order_by("pk").values_list("message__subject", "to"))


def test_an_open_alert_is_told_once_when_a_route_comes(declare: Declare, occurrence: Make, now: datetime) -> None:
    names = ("i-1", "i-2", "i-3", "i-4", "i-5")
    raise_alerts([occurrence(subject=name) for name in names], now=now)
    raise_alerts([occurrence(subject="i-6", rule="unpriced", kind="unpriced")], now=now)
    resolve_alerts(rule="idle", subject_kind="instance", subjects=["i-2"], account="lab", now=now)
    Alert.objects.filter(subject="i-3").update(state="acknowledged")
    Alert.objects.filter(subject="i-4").update(state="snoozed")
    later = now + timedelta(days=2)
    assert (tell_untold(now=later), told()) == (0, [])
    declare(OPS, ({}, ["ops"], []))
    assert tell_untold(now=later) == 2
    assert told() == [("i-1", "ops@example.com"), ("i-5", "ops@example.com")]
    assert set(Message.objects.values_list("created_at", flat=True)) == {later}
    assert set(Delivery.objects.values_list("first_due", flat=True)) == {later}  # its day to arrive begins now
    deliver(now=later, effects=SIMULATED)
    raise_alerts([occurrence(subject=name) for name in ("i-1", "i-5")], now=later)
    assert (tell_untold(now=later + timedelta(minutes=5)), len(told())) == (0, 2)


def test_a_route_without_its_channel_is_told_when_the_channel_comes(
    declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare({}, ({}, ["ops"], ["second"]))
    raise_alerts([occurrence()], now=now)
    assert (Message.objects.count(), told()) == (1, [])
    assert tell_untold(now=now) == 0
    Route.objects.update(fallback=["third"])
    Channel.objects.create(name="ops", kind="email", spec=OPS["ops"][1])
    assert tell_untold(now=now) == 1
    assert (told(), Message.objects.get().fallback) == ([("i-1", "ops@example.com")], ["third"])


def test_a_failed_delivery_is_not_told_again(declare: Declare, occurrence: Make, now: datetime) -> None:
    declare(OPS, ({}, ["ops"], []))
    raise_alerts([occurrence()], now=now)
    Delivery.objects.update(state="failed")
    assert (tell_untold(now=now), len(told())) == (0, 1)


@pytest.fixture
def refusing(smtp_sink: SmtpSink, settings: Any) -> set[str]:
    """Give the set of addresses that the mail server refuses for good."""
    refused: set[str] = set()

    async def handle_rcpt(server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address in refused:
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    smtp_sink.handle_RCPT = handle_rcpt  # type: ignore[attr-defined]
    settings.EMAIL_URL = smtp_sink.url
    return refused


@pytest.fixture
def nlp() -> Team:
    team = Team.objects.create(name="nlp", parent=Team.objects.create(name="research"))
    person("boss@example.com", "team_lead", team.parent)
    person("admin@example.com", "admin")
    return team


def play(now: datetime) -> list[tuple[str | None, str, bool]]:
    for minute in range(4):
        deliver(now=now + timedelta(minutes=minute), effects=Effects("real"))
    return [(one["to"], one["state"], one["is_fallback"]) for one in deliveries_document()]


def mail(occurrence: Make, declare: Declare, team: Team, now: datetime, **spec: Any) -> None:
    declare({"mail": ("email", {"test": True, **spec})}, ({}, ["mail"], []))
    raise_alerts([occurrence(team_id=team.pk)], now=now)


def test_a_refused_owner_goes_to_the_leads(
    refusing: set[str], nlp: Team, declare: Declare, occurrence: Make, now: datetime
) -> None:
    refusing.add("dev@example.com")
    mail(occurrence, declare, nlp, now)
    assert play(now) == [("dev@example.com", "failed", False), ("boss@example.com", "sent", True)]


def test_refused_leads_too_go_to_the_admins_and_no_further(
    refusing: set[str], nlp: Team, declare: Declare, occurrence: Make, now: datetime
) -> None:
    refusing.update(("dev@example.com", "boss@example.com", "admin@example.com"))
    mail(occurrence, declare, nlp, now)
    assert play(now) == [
        ("dev@example.com", "failed", False), ("boss@example.com", "failed", True),
        ("admin@example.com", "failed", True),
    ]  # fmt: skip


def test_one_of_several_leads_is_enough(
    refusing: set[str], nlp: Team, declare: Declare, occurrence: Make, now: datetime
) -> None:
    person("also@example.com", "team_lead", nlp.parent)
    refusing.update(("dev@example.com", "also@example.com"))
    mail(occurrence, declare, nlp, now)
    assert play(now) == [
        ("dev@example.com", "failed", False), ("also@example.com", "failed", True),
        ("boss@example.com", "sent", True),
    ]  # fmt: skip


def test_an_address_that_the_channel_names_has_nobody_behind_it(
    refusing: set[str], nlp: Team, declare: Declare, occurrence: Make, now: datetime
) -> None:
    refusing.add("ops@example.com")
    mail(occurrence, declare, nlp, now, to="ops@example.com")
    assert play(now) == [("ops@example.com", "failed", False)]
