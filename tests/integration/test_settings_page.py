"""Settings by hand: what is kept, what is refused, and what a test message does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from alerts.actions.render import render_message
from alerts.models import Channel, Delivery, Message, Route
from config.mails import invitation
from fleet.models import Gpu, GpuPlacement, IdleRuleVersion, InstanceState
from people.actions.invitations import invite
from people.models import AuditEvent, Organization, User
from people.queries.invitations import find
from tests.support.page_data import PASSWORD, company, machine, person, samples

pytestmark = pytest.mark.django_db
RULE = {"threshold_pct": "5", "window": "1h", "empty_window": "30m", "min_coverage_pct": "80", "warm_up": "30m"}


@pytest.fixture
def admin(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    company()
    client.force_login(person("ada@example.com", ("admin", None), password=PASSWORD))
    monkeypatch.setenv("HOOK", "https://hooks.example.com/x")
    return client


def events() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def test_the_organisation_is_changed_by_hand_unless_a_file_has_it(admin: Client) -> None:
    form = {"act": "organization", "name": "New name", "currency": "EUR", "time_zone": "Asia/Shanghai"}
    assert admin.post("/settings/", form).status_code == 302
    row = Organization.objects.get()
    assert (row.name, row.currency, row.time_zone, row.declared) == ("New name", "EUR", "Asia/Shanghai", None)
    assert AuditEvent.objects.get().details["changes"]["currency"] == ["USD", "EUR"]
    assert admin.post("/settings/", {**form, "currency": "EURO"}).status_code == 400
    assert admin.post("/settings/", {**form, "name": " "}).status_code == 400
    assert admin.post("/settings/", {**form, "time_zone": "Mars/Base"}).status_code == 400
    Organization.objects.update(declared={"name": "New name"})
    assert admin.post("/settings/", {**form, "name": "Other"}).status_code == 400
    assert (Organization.objects.get().name, events()) == ("New name", ["change_organization"])


def test_an_idle_rule_is_seen_before_it_is_kept(admin: Client) -> None:
    now = datetime.now(UTC)
    box = machine("box", None, "held", now=now)
    samples(box, now, quiet_hours=2, gap_hours=11)
    day = now - timedelta(days=1)
    InstanceState.objects.create(instance=box, start=day, state="running")
    GpuPlacement.objects.bulk_create(
        GpuPlacement(gpu=gpu, start=day, host=box.host, instance=box) for gpu in Gpu.objects.filter(instance=box)
    )
    rows = IdleRuleVersion.objects.count()
    seen = admin.post("/settings/", {"act": "preview", **RULE, "window": "6h", "empty_window": "6h"})
    assert [(row["old"], row["new"], row["n"]) for row in seen.context["preview"]] == [("held", "working", 1)]
    assert (IdleRuleVersion.objects.count(), events()) == (rows, [])
    assert admin.post("/settings/", {"act": "preview", **RULE}).context["preview"] == []
    assert admin.post("/settings/", {"act": "idle", **RULE, "window": "6h"}).status_code == 302
    assert IdleRuleVersion.objects.get().spec["window"] == "6h"
    assert admin.post("/settings/", {"act": "idle", **RULE, "valid_from": "2026-01-01"}).status_code == 302
    assert [row.spec["window"] for row in IdleRuleVersion.objects.order_by("valid_from")] == ["6h", "1h"]
    assert admin.post("/settings/", {"act": "idle", **RULE, "window": "5"}).status_code == 400
    assert events() == ["change_idle_rule", "change_idle_rule"]


def test_a_channel_is_kept_and_tested(admin: Client, settings: object) -> None:
    settings.PAGE_SECRETS = ["HOOK"]  # type: ignore[attr-defined]
    form = {"act": "channel", "name": "team", "kind": "slack_webhook", "secret": "env:HOOK"}
    assert admin.post("/settings/", form).status_code == 302
    assert Channel.objects.get().spec == {"url": "env:HOOK", "test": False, "allow_private": False}
    assert admin.post("/settings/", {"act": "test", "channel": "team"}).status_code == 302
    delivery = Delivery.objects.get()
    words = render_message(delivery.message, [], to="", now=datetime.now(UTC))
    assert words.title == "A test of Fleetledger"
    assert "ada@example.com" in words.sentence
    assert events() == ["save_channel", "test_channel"]


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "slack_webhook", "secret": "env:SECRET_KEY"},
        {"kind": "slack_webhook", "secret": "env:OTHER"},
        {"kind": "slack_webhook", "secret": ""},
        {"kind": "webhook", "url": "http://user:word@example.com/"},
        {"kind": "email", "to": "nobody"},
        {"kind": "pigeon"},
        {"kind": "webhook", "url": "https://a.example.com", "name": ""},
    ],
)
def test_a_channel_that_can_not_work_is_refused(admin: Client, form: dict[str, str]) -> None:
    assert admin.post("/settings/", {"act": "channel", "name": "x", **form}).status_code == 400
    assert (Channel.objects.count(), events()) == (0, [])


def test_routes_of_the_page_and_of_the_file(admin: Client) -> None:
    Channel.objects.create(name="a", kind="email", spec={})
    Channel.objects.create(name="b", kind="email", spec={})
    assert admin.post("/settings/", {"act": "route", "channel": "a"}).status_code == 302
    form = {"act": "route", "channel": "b", "fallback": "a", "teams": "nlp", "kinds": "idle"}
    assert admin.post("/settings/", form).status_code == 302
    assert list(Route.objects.values_list("position", "match", "channels", "fallback")) == [
        (0, {"teams": ["nlp"], "kinds": ["idle"]}, ["b"], ["a"]), (1, {}, ["a"], []),
    ]  # fmt: skip
    assert admin.post("/settings/", {"act": "route", "channel": "zzz"}).status_code == 404
    assert admin.post("/settings/", {"act": "drop_route", "route": "0"}).status_code == 302
    assert list(Route.objects.values_list("position", "channels")) == [(0, ["a"])]
    Route.objects.update(declared={})
    assert admin.post("/settings/", {"act": "drop_route", "route": "0"}).status_code == 400
    assert admin.post("/settings/", {"act": "route", "channel": "b"}).status_code == 400
    assert Route.objects.count() == 1
    assert events() == ["change_routes"] * 3


def test_what_the_file_manages_is_left_to_it(admin: Client) -> None:
    Channel.objects.create(name="mail", kind="email", spec={}, declared={"name": "mail"})
    form = {"act": "channel", "name": "mail", "kind": "webhook", "url": "https://a.example.com"}
    assert admin.post("/settings/", form).status_code == 400
    assert Channel.objects.get().kind == "email"


def test_an_invitation_is_mailed_where_mail_leaves(admin: Client, settings: object) -> None:
    settings.EMAIL_URL = "smtp://127.0.0.1:25"  # type: ignore[attr-defined]
    Channel.objects.create(name="fixed", kind="email", spec={"to": ["list@example.com"]})
    answer = admin.post("/settings/people/", {"act": "add", "email": "new@example.com", "role": "viewer", "team": ""})
    assert answer.status_code == 201, "a channel with fixed addresses would hand the link to others"
    Channel.objects.create(name="mail", kind="email", spec={})
    answer = admin.post("/settings/people/", {"act": "add", "email": "two@example.com", "role": "viewer", "team": ""})
    assert answer.status_code == 302
    delivery = Delivery.objects.get()
    assert (delivery.channel.name, delivery.to) == ("mail", "two@example.com")
    words = render_message(delivery.message, [], to=delivery.to, now=datetime.now(UTC))
    token = words.link.rstrip("/").rpartition("/")[2]
    found = find(token, now=datetime.now(UTC))
    assert found is not None
    assert found.email == "two@example.com"
    assert token not in str(Message.objects.values_list("facts", "subject")), "no link stands in the outbox"


def test_a_mail_of_an_invitation_that_is_over_has_no_link(admin: Client) -> None:
    now = datetime.now(UTC)
    ada = User.objects.get(email="ada@example.com")
    made = invite(now=now, by=ada, email="new@example.com", role="viewer", team_id=None).invitation
    made.revoked_at = now + timedelta(seconds=1)
    made.save()
    assert "link" not in invitation("invitation", {"invitation": made.pk})


def test_the_pages_ask_little_and_hold_the_yaml(admin: Client, django_assert_max_num_queries: object) -> None:
    Channel.objects.create(name="a", kind="email", spec={})
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert admin.get("/settings/").status_code == 200
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert "nlp-eval" in admin.get("/settings/sections/teams/").content.decode()
    file = admin.get("/settings/fleet.yaml")
    assert "parent: nlp" in file.content.decode()
    assert "fleet.yaml" in file["Content-Disposition"]
