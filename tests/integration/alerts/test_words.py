"""What a person reads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from alerts.actions.alerts import raise_alerts
from alerts.actions.deliver import deliver
from alerts.domain.occurrence import TOLD, Occurrence
from alerts.sentences import render
from common.code_words import FINDING_WORDS
from common.effects import Effects
from people.models import Organization, RoleGrant, Team, User
from tests.support.scripted_http import Answer, ScriptedServer
from tests.support.smtp import SmtpSink

pytestmark = pytest.mark.django_db
FAR = Effects("real", far_from_clock=True)


def test_everything_that_is_known_of_an_idle_machine() -> None:
    Organization.objects.create(pk=1, time_zone="Europe/Berlin")
    facts = {
        "subject": "i-1", "since": "2025-06-03T10:00:00Z", "minutes": 65, "peak_pct": "1.80", "coverage_pct": "98.00",
        "idle_cost": "17.33", "price_per_hour": "16.00", "currency": "USD",
    }  # fmt: skip
    words = render("idle", facts)
    assert (words["title"], words["link"]) == ("i-1: idle", "/")
    assert words["lines"] == [
        ("Since", "2025-06-03 12:00 CEST"), ("Covered minutes", "65"), ("Highest activity", "1.80 %"),
        ("Coverage", "98.00 %"), ("Cost so far", "17.33 USD"), ("Cost an hour", "16.00 USD"),
    ]  # fmt: skip


def test_what_is_unknown_is_left_out() -> None:
    assert render("gpu_lost", {"subject": "i-1", "idle_cost": None, "peak_pct": None, "since": "junk"})["lines"] == []


@pytest.mark.parametrize(
    ("kind", "facts", "title"),
    [
        ("source", {"message": "It answers 401."}, "Source x can't be read"),
        ("source", {"message_kind": "resolved"}, "Source x is back"),
        ("channel", {"code": "channel_broken"}, "Channel x is broken"),
        ("channel", {"code": "channel_failing"}, "Channel x fails"),
        ("channel", {"message_kind": "resolved"}, "Channel x works again"),
        ("suspected_hang", {}, "x: seems to hang"),
        ("something_new", {}, "x: something new"),
        ("gpu_lost", {"message_kind": "resolved"}, "x: over (a GPU is lost)"),
    ],
)
def test_titles(kind: str, facts: dict[str, Any], title: str) -> None:
    assert render(kind, {"subject": "x", **facts})["title"] == title


def test_every_kind_that_is_told_has_words() -> None:
    assert TOLD - {"source", "channel"} <= set(FINDING_WORDS)


def test_a_finding_is_told_in_the_words_of_its_kind(
    scripted_http: ScriptedServer, declare: Callable[..., None], occurrence: Callable[..., Occurrence], settings: Any
) -> None:
    from config.settings import ALERT_RENDERERS

    Organization.objects.create(pk=1, time_zone="Europe/Berlin")
    settings.ALERT_RENDERERS = ALERT_RENDERERS
    slack = ("slack_webhook", {"url": scripted_http.url, "test": True})
    declare({"slack": slack}, ({}, ["slack"], []))
    scripted_http.answer(Answer(200, b"ok"))
    facts = {
        "kind": "idle", "subject": "i-1", "since": "2025-06-03T11:00:00Z", "at": "2025-06-03T12:05:00Z", "minutes": 65,
        "state": "held", "memory": "held", "gpus": 8, "window_minutes": 60, "peak_pct": 1.8, "coverage_pct": 98.0,
        "idle_cost": "17.33", "price_per_hour": "16.00", "currency": "USD", "link": "/records/1/",
    }  # fmt: skip
    now = datetime(2025, 6, 3, 12, 5, tzinfo=UTC)
    raise_alerts([occurrence(facts=facts)], now=now)
    deliver(now=now, effects=FAR)
    [request] = scripted_http.requests
    payload = request.json()
    header, section, fields, context = payload["blocks"]
    assert header["text"]["text"] == "i-1 is idle"
    assert section["text"]["text"] == (
        "Idle since 13:00 CEST (1 h 5 min): peak 1.8 % of 8 GPUs over 60 min, coverage 98 %, memory held. "
        "17.33 USD so far, 16.00 USD per hour."
    )
    assert {"type": "mrkdwn", "text": "*Cost so far*\n17.33 USD", "verbatim": True} in fields["fields"]
    assert context["elements"][0]["text"].startswith("<http://127.0.0.1:8000/records/1/|Open it in Fleetledger> · ")
    assert payload["text"].startswith("i-1 is idle: Idle since 13:00 CEST")


def test_a_mail_says_why_you_get_it(
    smtp_sink: SmtpSink,
    settings: Any,
    declare: Callable[..., None],
    occurrence: Callable[..., Occurrence],
    now: datetime,
) -> None:
    settings.EMAIL_URL = smtp_sink.url
    settings.FLEETLEDGER_URL = "https://fleet.example.com/"
    team = Team.objects.create(name="nlp")
    RoleGrant.objects.create(user=User.objects.create(email="lead@example.com"), role="team_lead", team=team)
    declare({"mail": ("email", {"test": True})}, ({}, ["mail"], []))
    facts = {"link": "/instances/lab/i-1/", "price_per_hour": "16.00", "currency": "USD"}
    raise_alerts(
        [occurrence(team_id=team.pk, facts=facts), occurrence(subject="i-2", owner="", team_id=team.pk)], now=now
    )
    deliver(now=now, effects=FAR)
    owner, lead = smtp_sink.messages
    assert (owner["To"], owner["Subject"]) == ("dev@example.com", "i-1: idle")
    assert lead["To"] == "lead@example.com"
    text, html = (part.get_content() for part in owner.walk() if part.get_content_maintype() == "text")
    assert text.replace("\r\n", "\n") == (
        "i-1: idle\nMy organisation\n\nCost an hour: 16.00 USD\n\nOpen it in Fleetledger\n"
        "https://fleet.example.com/instances/lab/i-1/\n\nThe link opens a page; nothing happens from the link alone.\n"
        "You get this because you own i-1.\n\n"
    )
    assert 'href="https://fleet.example.com/instances/lab/i-1/"' in html
    assert "You get this for the team nlp." in lead.as_string()
