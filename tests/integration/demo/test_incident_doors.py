"""The pages of incidents, asked by every kind of person; and what they say."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from common.clock import real_now
from demo.domain.scripts import SCRIPTS
from demo.management.commands import demo
from demo.queries import newest_runs
from demo.sentences import REFUSALS, WORDS
from people.actions.world import follow_live_clock
from people.models import AuditEvent, Team
from tests.support.page_data import person

GRANTS = {"engineer": "vision", "team_lead": "vision", "finance": None, "viewer": None, "admin": None}


@pytest.fixture
def people(db: None, demo_settings: Any) -> dict[str, Client]:
    """Clients by role, in a demo that has begun and is live; `lead` of a team sees no other."""
    now = real_now()
    demo.begin(now=now, days=0)
    follow_live_clock(now=now)
    clients = {"nobody": Client()}
    for role, team in GRANTS.items():
        clients[role] = Client()
        granted = Team.objects.get(name=team) if team else None
        clients[role].force_login(person(f"{role}@test.example", (role, granted)))
    clients["admin of a team"] = Client()
    clients["admin of a team"].force_login(person("a@test.example", ("admin", Team.objects.get(name="vision"))))
    return clients


def statuses(people: dict[str, Client], method: str, address: str) -> dict[str, int]:
    return {who: getattr(client, method)(address).status_code for who, client in people.items()}


def test_who_may_look_and_who_may_act(people: dict[str, Client]) -> None:
    closed = dict.fromkeys(("engineer", "team_lead", "admin of a team"), 403)
    assert statuses(people, "get", "/incidents/") == {
        "nobody": 302, "finance": 200, "viewer": 200, "admin": 200, **closed,
    }  # fmt: skip
    admin = people.pop("admin")
    refused = {"nobody": 302, "finance": 403, "viewer": 403, **closed}
    for act in ("start", "end"):
        assert statuses(people, "post", f"/incidents/lost/{act}/") == refused
        assert statuses(people, "get", f"/incidents/lost/{act}/") == dict.fromkeys(people, 405)
    assert not AuditEvent.objects.filter(subject_kind="incident").exists()
    assert newest_runs(real_now()) == []

    assert admin.post("/incidents/lost/end/").status_code == 409
    assert admin.post("/incidents/lost/start/").status_code == 302
    assert admin.post("/incidents/lost/start/").status_code == 409
    assert admin.post("/incidents/nonsense/start/").status_code == 404
    page = admin.get("/incidents/").content.decode()
    assert "Started by admin@test.example." in page
    assert 'action="/incidents/lost/end/"' in page
    assert 'action="/incidents/lost/start/"' not in page
    assert "Nobody was told anything." in page
    watching = people["viewer"].get("/incidents/").content.decode()
    assert "An admin of the demo starts and ends them" in watching
    assert "/start/" not in watching
    assert admin.post("/incidents/lost/end/").status_code == 302
    assert [one.is_on for one in newest_runs(real_now() + timedelta(seconds=1))] == [False]
    assert AuditEvent.objects.filter(subject_kind="incident").count() == 2


def test_while_history_fills_nothing_can_be_started(people: dict[str, Client]) -> None:
    from people.actions.world import advance_world

    advance_world(now=real_now(), is_replay=True)
    page = people["admin"].get("/incidents/").content.decode()
    assert "Incidents can be started when it is whole" in page
    assert page.count("disabled>Start it") == len(SCRIPTS)
    assert people["admin"].post("/incidents/lost/start/").status_code == 409


def test_every_incident_has_its_words() -> None:
    assert set(WORDS) == {one.name for one in SCRIPTS}
    assert set(REFUSALS) == {
        "unknown_incident", "history_is_filling", "incident_is_on", "incident_is_over", "nothing_works",
    }  # fmt: skip
    for script in SCRIPTS:
        assert all(0 < minutes < script.minutes for minutes, _words in WORDS[script.name].watch)


def test_a_real_installation_has_no_such_page(db: None) -> None:
    client = Client()
    client.force_login(person("admin@example.com", ("admin", None)))
    assert client.get("/incidents/").status_code == 404
    with pytest.raises(Exception, match="incidents"):
        reverse("incidents")
