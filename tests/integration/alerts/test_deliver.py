"""One pass of the outbox, against real sockets: accepted, later, never, maybe."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import serializers

from alerts.actions.alerts import raise_alerts
from alerts.actions.deliver import DeliverResult, deliver
from alerts.channels import posting
from alerts.domain.occurrence import Occurrence
from alerts.domain.pace import STILL, Pace
from alerts.models import Alert, Attempt, Channel, Delivery, Message
from alerts.queries import channel_checks, deliveries_document, next_due
from common.effects import SIMULATED, Effects
from common.http import Limits
from tests.support.scripted_http import Answer, Request, ScriptedServer
from tests.support.smtp import SmtpSink

pytestmark = pytest.mark.django_db
Make = Callable[..., Occurrence]
Declare = Callable[..., None]
FAR = Effects("real", far_from_clock=True)
NEAR = Effects("real")
OK = Answer(200, b"ok")


def hook(server: ScriptedServer, path: str = "hook", **more: Any) -> tuple[str, dict[str, Any]]:
    return "webhook", {"url": f"{server.url}/{path}", "test": True, **more}


def attempts(channel: str) -> list[tuple[str, str, int | None, float | None]]:
    return [
        (one["at"], one["outcome"], one["status"], one["retry_after"])
        for row in deliveries_document() if row["channel"] == channel for one in row["attempts"]
    ]  # fmt: skip


def states() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in deliveries_document():
        found.setdefault(row["channel"], []).append(row["state"])
    return found


def play(now: datetime, until: datetime, effects: Effects = FAR) -> None:
    moment: datetime | None = now
    while moment is not None and moment <= until:
        deliver(now=moment, effects=effects)
        moment = next_due(after=moment)


def test_simulated_nothing_leaves(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare({"hook": hook(scripted_http), "mail": ("email", {"to": "a@example.com"})}, ({}, ["hook", "mail"], []))
    raise_alerts([occurrence(), occurrence(subject="i-2")], now=now)
    assert deliver(now=now, effects=SIMULATED) == DeliverResult(messages=2, simulated=4)
    assert deliver(now=now, effects=SIMULATED) == DeliverResult()
    assert states() == {"hook": ["simulated"] * 2, "mail": ["simulated"] * 2}
    assert attempts("mail")[0] == ("2025-06-03T12:00:00Z", "simulated", None, None)
    assert scripted_http.requests == []
    assert next_due(after=now) is None


def test_far_from_the_clock_only_doubles_are_reached(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    real = ("webhook", {"url": f"{scripted_http.url}/real", "allow_private": True})
    declare({"double": hook(scripted_http, "double"), "real": real}, ({}, ["double", "real"], []))
    scripted_http.default = OK
    raise_alerts([occurrence()], now=now)
    assert deliver(now=now, effects=FAR) == DeliverResult(messages=1, sent=1, simulated=1)
    assert states() == {"double": ["sent"], "real": ["simulated"]}
    raise_alerts([occurrence(subject="i-2")], now=now)
    assert deliver(now=now, effects=NEAR) == DeliverResult(messages=1, sent=2)
    assert [request.path for request in scripted_http.requests].count("/real") == 1


def test_what_a_receiver_gets(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    from alerts.domain.signature import verify

    monkeypatch.setenv("HOOK_SECRET", "s3cret")
    declare({"hook": hook(scripted_http, secret="env:HOOK_SECRET")}, ({}, ["hook"], []))
    scripted_http.answer(OK)
    raise_alerts([occurrence()], now=now)
    deliver(now=now, effects=FAR)
    [request] = scripted_http.requests
    alert, message = Alert.objects.get(), Message.objects.get()
    body = request.json()
    assert (body["id"], body["kind"], body["alert_ids"]) == (str(message.key), "alert", [alert.pk])
    assert body["alerts"][0]["subject"] == {"kind": "instance", "id": "i-1", "account": "lab"}
    assert body["facts"] == {"since": "2025-06-03T11:00:00Z"}
    assert body["sent_at"] == request.headers["Fleetledger-At"] == "2025-06-03T12:00:00Z"
    assert verify(request.body, request.headers["Fleetledger-Signature"], secret="s3cret", at=int(now.timestamp()))
    assert request.headers["Idempotency-Key"] == str(message.key)


def test_later_and_later_then_accepted(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare({"hook": hook(scripted_http)}, ({}, ["hook"], []))
    later = Answer(429, b"", {"Retry-After": "Tue, 03 Jun 2025 12:02:00 GMT"})
    scripted_http.answer(Answer(500), later, OK)
    raise_alerts([occurrence()], now=now)
    play(now, now + timedelta(hours=1))
    assert attempts("hook") == [
        ("2025-06-03T12:00:00Z", "transient", 500, None),
        ("2025-06-03T12:00:30Z", "transient", 429, 90.0),
        ("2025-06-03T12:02:00Z", "accepted", 200, None),
    ]
    assert len({request.headers["Idempotency-Key"] for request in scripted_http.requests}) == 1
    channel = Channel.objects.get()
    assert (channel.failing_since, channel.broken_at) == (None, None)


def test_a_day_without_success_is_dead_and_the_fallback_is_told(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare(
        {"hook": hook(scripted_http), "second": hook(scripted_http, "second")},
        ({"kinds": ["idle"]}, ["hook"], ["second"]),
    )
    scripted_http.respond = lambda request: OK if request.path == "/second" else Answer(503)
    raise_alerts([occurrence(), occurrence(subject="i-2")], now=now)
    play(now, now + timedelta(hours=25))
    rows = [row for row in deliveries_document() if row["subject"] != "hook"]
    assert sorted((row["channel"], row["state"], row["is_fallback"]) for row in rows) == [
        ("hook", "dead", False), ("hook", "dead", False), ("second", "sent", True), ("second", "sent", True),
    ]  # fmt: skip
    ends = [row["delivered_at"] for row in rows if row["state"] == "sent"]
    assert "2025-06-04T11:30:00Z" <= min(ends) <= max(ends) <= "2025-06-04T12:15:00Z"
    assert sum(request.path == "/hook" for request in scripted_http.requests) < 120


def test_an_hour_of_failures_is_told_over_the_others_once_and_its_end(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare({"hook": hook(scripted_http), "second": hook(scripted_http, "second")}, ({}, ["hook", "second"], []))
    works: list[bool] = []
    scripted_http.respond = lambda request: OK if request.path == "/second" or works else Answer(503)
    raise_alerts([occurrence()], now=now)
    play(now, now + timedelta(hours=3))
    works.append(True)
    play(now + timedelta(hours=3), now + timedelta(hours=5))
    told = [request.json() for request in scripted_http.requests if request.path == "/second"]
    assert [(one["kind"], one["alerts"][0]["kind"], one["title"]) for one in told[1:]] == [
        ("alert", "channel", "Channel hook fails"), ("resolved", "channel", "Channel hook works again"),
    ]  # fmt: skip
    assert states() == {"hook": ["sent"], "second": ["sent"] * 3}


def test_a_dead_channel_says_why_and_the_rest_goes_on(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare(
        {"old": hook(scripted_http, "old"), "second": hook(scripted_http, "second")},
        ({"kinds": ["idle"]}, ["old"], ["second"]),
    )
    scripted_http.respond = lambda request: OK if request.path == "/second" else Answer(410, b"channel_is_archived")
    raise_alerts([occurrence(), occurrence(subject="i-2")], now=now)
    play(now, now + timedelta(minutes=10))
    assert sum(request.path == "/old" for request in scripted_http.requests) == 1
    channel = Channel.objects.get(name="old")
    assert (channel.broken_at, channel.broken_reason) == (now, "410 channel_is_archived")
    second = [request.json() for request in scripted_http.requests if request.path == "/second"]
    assert sorted(one["title"] for one in second) == [
        "Channel old is broken", "i-1: idle", "i-2: idle",
    ]  # fmt: skip
    check = {one.subject: (one.ok, one.code) for one in channel_checks(now)}
    assert check == {"old": (False, "channel_broken"), "second": (True, "ok")}


def test_three_refused_messages_break_a_channel(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare({"hook": hook(scripted_http)}, ({}, ["hook"], []))
    scripted_http.default = Answer(422, b"{}")
    raise_alerts([occurrence(subject=f"i-{number}") for number in range(5)], now=now)
    play(now, now + timedelta(minutes=10))
    assert len(scripted_http.requests) == 3
    assert Channel.objects.get().broken_reason == "422 refused"
    assert states() == {"hook": ["failed"] * 5}


def test_one_refused_message_does_not(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare({"hook": hook(scripted_http)}, ({}, ["hook"], []))
    scripted_http.answer(Answer(400), Answer(400), OK, Answer(400), Answer(400), OK)
    raise_alerts([occurrence(subject=f"i-{number}") for number in range(6)], now=now)
    deliver(now=now, effects=FAR)
    assert states() == {"hook": ["failed", "failed", "sent", "failed", "failed", "sent"]}
    assert Channel.objects.get().broken_at is None


def test_no_answer_may_have_been_taken_so_it_comes_again_under_the_same_id(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare({"hook": hook(scripted_http)}, ({}, ["hook"], []))
    scripted_http.answer(Answer(drops=True), OK)
    raise_alerts([occurrence()], now=now)
    play(now, now + timedelta(minutes=5))
    assert [one[1] for one in attempts("hook")] == ["unknown", "accepted"]
    assert [row["doubles"] for row in deliveries_document()] == [1]
    first, second = scripted_http.requests
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]


def test_one_that_never_answers_does_not_hold_the_others(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "LIMITS", Limits(total_seconds=0.5))
    order: list[str] = []

    def respond(request: Request) -> Answer:
        order.append(request.path)
        return OK if request.path == "/good" else Answer(200, b"", delay_seconds=60)

    scripted_http.respond = respond
    declare({"hung": hook(scripted_http, "hung"), "good": hook(scripted_http, "good")}, ({}, ["hung", "good"], []))
    raise_alerts([occurrence(subject=f"i-{number}") for number in range(20)], now=now)
    result = deliver(now=now, effects=FAR)
    assert (result.sent, result.retried) == (20, 1)
    assert order.count("/hung") == 1  # the rest of its queue waits with it
    assert states()["good"] == ["sent"] * 20
    assert Channel.objects.get(name="hung").not_before == now + timedelta(seconds=30)


def test_smtp_refuses_one_of_many(
    smtp_sink: SmtpSink, settings: Any, declare: Declare, occurrence: Make, now: datetime
) -> None:
    async def handle_rcpt(server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address == "gone@example.com":
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    smtp_sink.handle_RCPT = handle_rcpt  # type: ignore[attr-defined]
    settings.EMAIL_URL = smtp_sink.url
    everybody = ["a@example.com", "gone@example.com", "b@example.com"]
    declare({"mail": ("email", {"to": everybody, "test": True})}, ({}, ["mail"], []))
    raise_alerts([occurrence(subject=f"i-{number}") for number in range(4)], now=now)
    play(now, now + timedelta(hours=1))
    assert smtp_sink.recipients == [["a@example.com"], ["b@example.com"]] * 4
    assert states() == {"mail": ["sent", "failed", "sent"] * 4}
    assert Channel.objects.get().broken_at is None
    [mail, *_] = smtp_sink.messages
    assert mail["Message-ID"] == f"<{Message.objects.first().key}@localhost>"  # type: ignore[union-attr]
    assert mail["Date"] == "Tue, 03 Jun 2025 12:00:00 +0000"


def test_secrets_stand_nowhere(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime, request: pytest.FixtureRequest
) -> None:
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    caplog: pytest.LogCaptureFixture = request.getfixturevalue("caplog")
    monkeypatch.setenv("SLACK_URL", f"{scripted_http.url}/services/T/B/verysecret")
    monkeypatch.setenv("HOOK_SECRET", "alsosecret")
    slack = ("slack_webhook", {"url": "env:SLACK_URL", "test": True})
    declare({"slack": slack, "hook": hook(scripted_http, secret="env:HOOK_SECRET")}, ({}, ["slack", "hook"], []))
    scripted_http.answer(
        Answer(500, b"verysecret alsosecret"), Answer(drops=True), Answer(404, b"verysecret"), Answer(302)
    )
    raise_alerts([occurrence()], now=now)
    play(now, now + timedelta(minutes=5))
    rows = [
        *Channel.objects.all(),
        *Delivery.objects.all(),
        *Attempt.objects.all(),
        *Message.objects.all(),
        *Alert.objects.all(),
    ]
    everything = serializers.serialize("json", rows) + json.dumps(deliveries_document()) + caplog.text
    assert len(scripted_http.requests) >= 3
    assert "verysecret" not in everything
    assert "alsosecret" not in everything


def test_a_live_pass_rests_between_slack_messages(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    passed = [0.0]
    pace = Pace(
        elapsed=lambda: timedelta(seconds=passed[0]), sleep=lambda seconds: passed.__setitem__(0, passed[0] + seconds),
        given_time=False, longest=timedelta(seconds=8),
    )  # fmt: skip
    slack = ("slack_webhook", {"url": f"{scripted_http.url}/slack", "allow_private": True})
    declare({"slack": slack}, ({}, ["slack"], []))
    scripted_http.default = OK
    raise_alerts([occurrence(subject=f"i-{number}") for number in range(12)], now=now)
    assert deliver(now=now, effects=NEAR, pace=pace).sent == 8
    assert passed == [8.0]
    assert [at for at, *_ in attempts("slack")] == [f"2025-06-03T12:00:0{second}Z" for second in range(8)]
    assert all("Fleetledger-At" not in request.headers for request in scripted_http.requests)
    assert deliver(now=now + timedelta(seconds=10), effects=NEAR, pace=STILL).sent == 1


def test_a_renderer_that_fails_loses_no_message(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime, settings: Any
) -> None:
    settings.ALERT_RENDERERS = {"idle": "tests.integration.alerts.nowhere.render"}
    declare({"hook": hook(scripted_http)}, ({}, ["hook"], []))
    scripted_http.answer(OK)
    raise_alerts([occurrence()], now=now)
    assert deliver(now=now, effects=FAR).sent == 1
    assert scripted_http.requests[0].json()["title"] == "i-1: idle"


def test_a_channel_of_no_known_kind_waits_in_view(declare: Declare, occurrence: Make, now: datetime) -> None:
    declare({"fax": ("fax", {"test": True})}, ({}, ["fax"], []))
    assert raise_alerts([occurrence()], now=now) == 1
    assert deliver(now=now, effects=FAR) == DeliverResult()
    assert [one.code for one in channel_checks(now)] == ["unknown_channel_kind"]


def test_nobody_calls_a_channel_that_asked_for_a_pause(
    scripted_http: ScriptedServer, declare: Declare, occurrence: Make, now: datetime
) -> None:
    declare({"hook": hook(scripted_http)}, ({}, ["hook"], []))
    scripted_http.answer(Answer(429, b"", {"Retry-After": "300"}))
    scripted_http.default = OK
    raise_alerts([occurrence(), occurrence(subject="i-2")], now=now)
    deliver(now=now, effects=FAR)
    raise_alerts([occurrence(subject="i-3")], now=now + timedelta(minutes=1))
    play(now + timedelta(minutes=1), now + timedelta(hours=1))
    assert [request.headers["Fleetledger-At"] for request in scripted_http.requests] == [
        "2025-06-03T12:00:00Z", *["2025-06-03T12:05:00Z"] * 3,
    ]  # fmt: skip
