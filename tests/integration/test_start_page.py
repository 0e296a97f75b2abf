"""The first run: what is asked, what is kept, and what is refused before anything is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from common.errors import OutsideFailed
from config.pages import start
from fleet.models import Job, OwnershipRule, Source
from fleet.queries.ownership import Resolver
from fleet.queries.sources import open_source
from people.models import AuditEvent, Team
from tests.support.page_data import PASSWORD, machine, person
from tests.support.prometheus import PrometheusStarter

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    client.force_login(person("ada@example.com", ("admin", None), password=PASSWORD))
    monkeypatch.setattr(start, "_read_soon", lambda: None)
    return client


def test_a_source_that_answers_is_kept(admin: Client, prometheus: PrometheusStarter) -> None:
    server = prometheus.backfilled("# EOF\n")
    form = {"act": "connect", "name": "main", "url": server, "allow_private": "yes"}
    seen = admin.post("/start/", {**form, "act": "check"})
    assert [(check.check, check.code) for check in seen.context["checks"]] == [
        ("source_reachable", "ok"), ("source_metrics", "no_gpu_metrics"),
    ]  # fmt: skip
    assert not Source.objects.exists(), "a check keeps nothing"
    assert admin.post("/start/", form).status_code == 302
    source = Source.objects.get()
    assert (source.name, source.kind, source.spec, source.declared) == ("main", "prometheus", {"url": server}, None)
    event = AuditEvent.objects.get(action="connect_source")
    assert event.details == {"url": server, "auth": [], "private_addresses": "allowed"}


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"url": "http://10.1.2.3:9090"}, "private address"),
        ({"url": "http://127.0.0.1:9"}, "private address"),
        ({"url": "http://[::ffff:169.254.169.254]/"}, "private address"),
        ({"url": "http://localhost:9090"}, "private address"),
        ({"url": "ftp://x"}, "no URL"),
        ({"url": ""}, ""),
        ({"url": "http://user:word@example.com"}, "password"),
        ({"url": "http://127.0.0.1:9", "allow_private": "yes", "auth": "bearer", "secret": "env:SECRET_KEY"}, "secret"),
        ({"url": "http://127.0.0.1:9", "allow_private": "yes", "auth": "bearer", "secret": "env:OTHER"}, "secret"),
    ],
)
def test_what_is_refused_keeps_nothing(admin: Client, form: dict[str, str], said: str) -> None:
    before = AuditEvent.objects.count()
    answer = admin.post("/start/", {"act": "connect", **form})
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert (Source.objects.count(), AuditEvent.objects.count()) == (0, before)


def test_a_source_that_is_silent_is_not_kept(admin: Client) -> None:
    answer = admin.post("/start/", {"act": "connect", "url": "http://127.0.0.1:9", "allow_private": "yes"})
    assert [check.code for check in answer.context["checks"]] == ["source_down"]
    assert not Source.objects.exists()


def test_a_public_source_never_connects_to_a_private_address(admin: Client) -> None:
    """Also when its name answers otherwise than at the time of the form."""
    row = Source.objects.create(name="x", kind="prometheus", spec={"url": "http://127.0.0.1:9", "public_only": True})
    with pytest.raises(OutsideFailed) as failed:
        open_source(row).names(0, 600)
    assert failed.value.code == "private_address"


def test_a_source_of_the_file_is_left_to_the_file(admin: Client, prometheus: PrometheusStarter) -> None:
    Source.objects.create(name="main", kind="prometheus", spec={"url": "http://a"}, declared={"name": "main"})
    url = prometheus.backfilled("# EOF\n")
    answer = admin.post("/start/", {"act": "connect", "name": "main", "url": url, "allow_private": "yes"})
    assert answer.status_code == 400
    assert Source.objects.get().spec == {"url": "http://a"}


def test_found_teams_get_names_and_keep_their_past(admin: Client) -> None:
    now = datetime.now(UTC)
    nlp = Team.objects.create(name="team-nlp", from_telemetry=True)
    vision = Team.objects.create(name="vision", from_telemetry=True)
    job = Job.objects.create(kind="pod", external_id="a", labels={"namespace": "team-nlp"}, started_at=now)
    other = Job.objects.create(kind="pod", external_id="b", labels={"namespace": "vision"}, started_at=now)
    from fleet.models import Account

    Account.objects.create(name="lab", kind="static", provider="lab")
    box = machine("box", None, "working", now=now)
    form = {"act": "teams", f"team-{nlp.pk}": "Language", f"team-{vision.pk}": "vision"}
    assert admin.post("/start/", form).status_code == 302
    assert list(Team.objects.order_by("pk").values_list("name", "from_telemetry")) == [
        ("Language", False), ("vision", False),
    ]  # fmt: skip
    for at in (datetime(2020, 1, 1, tzinfo=UTC), now):
        resolver = Resolver(now)
        assert resolver.owned(box.pk, job.pk, at).team_id == nlp.pk
        assert resolver.owned(box.pk, other.pk, at).team_id == vision.pk
    assert OwnershipRule.objects.count() == 2
    assert AuditEvent.objects.filter(action__in=["change_team", "accept_teams"]).count() == 2


def test_the_steps_say_what_is_done(admin: Client, django_assert_max_num_queries: object) -> None:
    admin.get("/start/")  # makes the organisation
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        run = admin.get("/start/").context["run"]
    assert (run.done, run.now) == (frozenset(), "source")
    fragment = admin.get("/start/progress/?waiting")
    assert "HX-Refresh" not in fragment.headers
    from fleet.models import Account

    Account.objects.create(name="lab", kind="static", provider="lab")
    machine("box", None, "working", now=datetime.now(UTC))
    assert admin.get("/start/progress/?waiting")["HX-Refresh"] == "true"
