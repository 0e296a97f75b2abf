"""The audit trail: what it says, who reads it, and that nobody changes it."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from people.actions.audit import record
from people.models import AuditEvent
from people.sentences.audit import sentence
from tests.support.page_data import PASSWORD, company, person

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def finance(client: Client) -> Client:
    company()
    client.force_login(person("fin@example.com", ("finance", None), password=PASSWORD))
    return client


def grant(by: str, at: datetime = DAY, subject: str = "dev@example.com") -> AuditEvent:
    details = {"role": "engineer", "team": "nlp"}
    return record(now=at, by=by, action="grant_role", subject_kind="user", subject=subject, **details)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE people_auditevent SET by = 'x'", "DELETE FROM people_auditevent", "TRUNCATE people_auditevent",
     "TRUNCATE people_auditevent CASCADE"],
)  # fmt: skip
def test_the_database_refuses_changes_also_to_the_owner_of_the_table(statement: str) -> None:
    """As in an external database, where the application and the owner of its tables are one role."""
    grant("ada@example.com")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_userbyid(relowner) = current_user FROM pg_class WHERE relname='people_auditevent'"
        )
        assert cursor.fetchone() == (True,)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert AuditEvent.objects.get().by == "ada@example.com"


def test_filters_stand_in_the_url(finance: Client) -> None:
    grant("ada@example.com")
    grant("eve@example.com", subject="a%b@example.com")
    grant("ada@example.com", at=datetime(2026, 3, 11, 22, 59, tzinfo=UTC))
    grant("ada@example.com", at=datetime(2026, 3, 11, 23, 0, tzinfo=UTC))  # midnight in Berlin

    def found(query: str) -> int:
        return int(finance.get(f"/audit/?{query}").context["table"].count)

    assert found("by=ada@example.com") == 3
    assert found("q=A%25B") == 1
    assert found("q=%25") == 1
    assert found("from=2026-03-11&to=2026-03-11") == 1
    assert found("action=grant_role&subject_kind=user") == 4
    assert found("action=sign_in") == 0
    assert found("from=never") == 4


def test_sentences_tell_what_happened(finance: Client) -> None:
    grant("ada@example.com")
    text = finance.get("/audit/").content.decode()
    assert "ada@example.com made dev@example.com Engineer of nlp." in text


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"action": "apply", "details": {"counts": {"created": 2, "unchanged": 4}}},
         "me applied it: 2 things changed."),
        ({"action": "sign_in"}, "me signed in."),
        ({"action": "remove_role", "details": {"role": "admin", "team": None}},
         "me took the role Admin of everything from it."),
        ({"action": "change_team", "details": {"changes": {"name": ["a", "b"]}}}, "me renamed the team a to b."),
        ({"action": "invite", "details": {"role": None}}, "me invited it, whose roles fleet.yaml gives."),
        ({"action": "grant_role", "details": {}}, "me: grant role on it."),
        ({"action": "create_token", "details": {}}, "me: make token on it."),
        ({"action": "of_later", "details": {}}, "me: of later on it."),
    ],
)  # fmt: skip
def test_each_event_has_a_sentence(event: dict[str, object], said: str) -> None:
    whole = {"by": "me", "subject": "it", "reason": "", "details": {}, **event}
    assert sentence(whole) == said


def test_the_trail_as_a_file_has_every_row_and_no_formula(finance: Client) -> None:
    for number in range(60):
        grant("ada@example.com", subject=f"=cmd{number}")
    grant("eve@example.com")
    text = finance.get("/audit/?by=ada@example.com&as=csv").getvalue().decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 61
    assert rows[0][1:3] == ["What happened", "Who"]
    assert not [cell for row in rows for cell in row if cell.startswith("=")]
    raw = finance.get("/audit/?by=ada@example.com&as=csv-raw").getvalue().decode()
    assert "2026-03-10T12:00:00Z" in raw
    assert finance.get("/audit/?as=xlsx").getvalue()[:2] == b"PK"
    assert finance.get("/audit/?as=pdf").status_code == 400


def test_names_from_outside_are_text(finance: Client) -> None:
    grant("ada@example.com", subject="<script>alert(1)</script>")
    assert "<script>alert(1)" not in finance.get("/audit/").content.decode()


def test_the_page_asks_little(finance: Client, django_assert_max_num_queries: object) -> None:
    for _ in range(60):
        grant("ada@example.com")
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert finance.get("/audit/?page=2").status_code == 200
