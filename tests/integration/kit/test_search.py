"""Search finds what a person may see, by the parts of names that people remember, and nothing of others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.pages.search import found
from fleet.models import Gpu, Instance, Job
from people.models import SavedView, Team, User
from people.visitor import visitor_of
from tests.support.page_data import company, machine, person

pytestmark = pytest.mark.django_db
NOW = datetime(2025, 6, 20, 12, tzinfo=UTC)


@pytest.fixture
def admin() -> User:
    teams = company()
    for name, team in (("vis-h100-07", "vision"), ("vis-h100-07-spare", "vision"), ("nlp-h100-12", "nlp")):
        machine(name, teams[team], "held", now=NOW)
    machine("stray-01", None, "empty", now=NOW, account=False)
    Instance.objects.filter(external_id="nlp-h100-12").update(attributes={"tags": {"Name": "Tokeniser 50%"}})
    box = Instance.objects.get(external_id="vis-h100-07")
    Gpu.objects.create(uuid="GPU-5a1b2c3d-aaaa", instance=box, host=box.host, first_seen_at=NOW, last_seen_at=NOW)
    for team, job in (("vision", "vision/train-segmentation-0"), ("nlp", "nlp/tokenise"), ("vision", "7312044")):
        Job.objects.create(kind="pod", external_id=job, team=teams[team], started_at=NOW)
    return person("ingrid@example.com", ("admin", None))


def hits(user: User, text: str, group: str = "") -> list[str]:
    return [hit.text for hit in found(text, visitor_of(user), 50) if not group or hit.group == group]


def lead() -> User:
    return person("vera@example.com", ("team_lead", Team.objects.get(name="vision")))


def test_machines_come_by_id_host_and_name_the_same_name_first(admin: User) -> None:
    assert hits(admin, "VIS-H100-07", "Instance") == ["vis-h100-07", "vis-h100-07-spare"]
    assert hits(admin, "h100", "Instance") == ["nlp-h100-12", "vis-h100-07", "vis-h100-07-spare"]
    assert hits(admin, "tokeniser", "Instance") == ["nlp-h100-12"]
    assert hits(admin, "50%", "Instance") == ["nlp-h100-12"]
    assert hits(admin, "5_%", "Instance") == [], "% and _ are letters, no patterns"


def test_gpus_come_by_their_uuid_with_and_without_its_prefix(admin: User) -> None:
    for text in ("GPU-5a1b", "5A1B2", "2c3d"):
        assert hits(admin, text, "GPU") == ["GPU-5a1b2c3d-aaaa"]
    assert hits(admin, "3d-a", "GPU") == ["GPU-5a1b2c3d-aaaa"]
    assert hits(admin, "zz", "GPU") == []


def test_jobs_come_by_the_start_of_their_id_or_name(admin: User) -> None:
    assert hits(admin, "train", "Job") == ["vision/train-segmentation-0"]
    assert hits(admin, "vision/tr", "Job") == ["vision/train-segmentation-0"]
    assert hits(admin, "7312", "Job") == ["7312044"]
    assert hits(admin, "segmentation", "Job") == []


def test_nobody_finds_what_is_another_teams(admin: User) -> None:
    user = lead()
    assert hits(user, "h100", "Instance") == ["vis-h100-07", "vis-h100-07-spare"]
    assert hits(user, "stray") == []
    assert hits(user, "tokenise") == []
    assert hits(user, "nlp", "Team") == []
    assert hits(user, "ingrid") == []
    assert hits(admin, "ingrid", "Person") == ["Ingrid"]
    assert hits(admin, "stray", "Instance") == ["stray-01"]


def test_pages_help_and_own_saved_views_are_found(admin: User) -> None:
    SavedView.objects.create(user=admin, name="Idle in vision", path="/idle/?team=vision", created_at=NOW)
    assert "Idle machines" in hits(admin, "idle", "Page")
    assert hits(admin, "idle in", "Saved view") == ["Idle in vision"]
    assert hits(lead(), "idle in", "Saved view") == []
    assert "The idle clock" in hits(admin, "idle clock", "Help")


def test_the_page_and_the_options_escape_names_and_ask_little(admin: User) -> None:
    Instance.objects.filter(external_id="stray-01").update(external_id="<b>stray</b>")
    client = Client()
    client.force_login(admin)
    for address in ("/search/?q=stray", "/search/?q=stray&part=list"):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            page = client.get(address).content.decode()
        assert len(asked) <= 12
        assert "&lt;b&gt;stray&lt;/b&gt;" in page
        assert "<b>stray" not in page
    assert 'role="option" id="hit-1"' in page
    assert "<html" not in page


def test_job_search_uses_its_indexes(admin: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for column in ("lower(external_id)", "split_part(lower(external_id), '/', 2)"):
            cursor.execute(f"EXPLAIN SELECT 1 FROM fleet_job WHERE {column} LIKE 'train%'")
            assert "Index" in str(cursor.fetchall())
