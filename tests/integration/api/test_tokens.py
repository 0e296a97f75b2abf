"""Tokens: made and ended by command and page, kept as digests, good for a time, counted, audited."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client, override_settings

from common.clock import real_now
from common.errors import BadInput
from people.actions import calls
from people.actions.tokens import create_token, revoke_token, token_for
from people.models import ApiToken, AuditEvent
from tests.support.api_world import fetched, somebody
from tests.support.page_data import company, person

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 10, 20, 30, tzinfo=UTC)


def command(*words: str) -> tuple[int, Any]:
    output = io.StringIO()
    try:
        call_command("token", *words, "--json", stdout=output, stderr=io.StringIO())
    except SystemExit as left:
        return int(str(left.code)), json.loads(output.getvalue())
    return 0, json.loads(output.getvalue())


def bearer(secret: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {secret}"})


def test_a_token_opens_the_api_and_only_the_api() -> None:
    company()
    person("ada@example.com", ("admin", None))
    status, made = command("create", "--owner", "Ada@example.com", "--name", "nightly report", "--days", "30")
    assert status == 0
    assert made | {"token": "", "secret": "", "created_at": "", "expires_at": ""} == {
        "token": "", "name": "nightly report", "owner": "ada@example.com", "team": None, "scopes": ["read"],
        "state": "valid", "created_at": "", "created_by": "command line", "expires_at": "", "last_used_at": None,
        "revoked_at": None, "secret": "",
    }  # fmt: skip
    assert made["secret"].startswith(f"fl_{made['token']}_")
    assert fetched(bearer(made["secret"]), "/api/v1/teams/")["results"][0]["name"] == "nlp"
    assert bearer(made["secret"]).get("/").status_code == 302
    assert bearer(made["secret"]).get("/settings/tokens/").status_code == 302
    (listed,) = command("list")[1]
    assert listed["last_used_at"].endswith(":00:00Z")
    assert "secret" not in listed


def test_the_secret_is_kept_nowhere() -> None:
    person("ada@example.com", ("admin", None))
    _, made = command("create", "--owner", "ada@example.com", "--name", "x")
    secret = made["secret"].rsplit("_", 1)[-1][-20:]
    rows = [*ApiToken.objects.values(), *AuditEvent.objects.values()]
    assert secret not in str(rows)
    assert [one.action for one in AuditEvent.objects.all()] == ["create_token"]
    with override_settings(SECRET_KEY="another key"):  # the digest is keyed: a copy of the table is of no use
        assert token_for(made["secret"], now=real_now()) is None
    assert token_for(made["secret"], now=real_now()) is not None


def test_a_token_ends_by_time_by_hand_and_with_its_owner() -> None:
    user = person("ada@example.com", ("admin", None))
    made = create_token(now=NOW, by="x", owner="ada@example.com", name="x", days=10)
    assert token_for(made.secret, now=NOW + timedelta(days=10, seconds=-1)) is not None
    assert token_for(made.secret, now=NOW + timedelta(days=10)) is None
    user.is_active = False
    user.save()
    assert token_for(made.secret, now=NOW) is None
    user.is_active = True
    user.save()
    assert revoke_token(now=NOW, by="x", prefix=made.token.prefix).revoked_at == NOW
    assert revoke_token(now=NOW + timedelta(days=1), by="x", prefix=made.secret).revoked_at == NOW
    assert token_for(made.secret, now=NOW) is None
    assert [one.action for one in AuditEvent.objects.order_by("pk")] == ["create_token", "revoke_token"]
    assert command("list")[1][0]["state"] == "revoked"


@pytest.mark.parametrize(
    "text", ["", "x", "fl_abcdefghij_", "fl_abcdefghij_" + "a" * 43, "fl_abcdefghij_" + "a" * 5000, "\x00", "é"]
)
def test_a_wrong_token_is_refused_in_one_sentence(text: str) -> None:
    answer = Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/teams/")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json()["error"]["message"] == "This token is unknown, has ended or was revoked."


def test_a_token_with_one_letter_wrong_is_refused() -> None:
    person("ada@example.com", ("admin", None))
    made = create_token(now=real_now(), by="x", owner="ada@example.com", name="x", days=10)
    wrong = made.secret[:-1] + ("A" if made.secret[-1] != "A" else "B")
    assert bearer(wrong).get("/api/v1/teams/").status_code == 401


def test_last_use_is_exact_to_the_hour_and_written_once_an_hour() -> None:
    person("ada@example.com", ("admin", None))
    made = create_token(now=NOW, by="x", owner="ada@example.com", name="x", days=10)
    token_for(made.secret, now=NOW)
    assert ApiToken.objects.get().last_used_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    ApiToken.objects.update(name="not written again")
    token_for(made.secret, now=NOW + timedelta(minutes=30))
    token_for(made.secret, now=NOW + timedelta(minutes=45))
    assert ApiToken.objects.get().last_used_at == datetime(2026, 3, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"owner": "nobody@example.com"}, "unknown_person"),
        ({"name": " "}, "bad_token_name"),
        ({"name": "a\nb"}, "bad_token_name"),
        ({"days": 0}, "bad_expiry"),
        ({"days": 366}, "bad_expiry"),
        ({"scopes": ("write",)}, "bad_scope"),
        ({"scopes": ()}, "bad_scope"),
        ({"team": "no-such"}, "unknown_team"),
        ({"team": "robotics"}, "unknown_team"),
    ],
)
def test_what_can_not_be_made_changes_nothing(change: dict[str, Any], code: str) -> None:
    person("ada@example.com", ("engineer", company()["nlp"]))
    asked: dict[str, Any] = {"owner": "ada@example.com", "name": "x", "days": 10} | change
    with pytest.raises(BadInput) as refused:
        create_token(now=NOW, by="x", **asked)
    assert refused.value.code == code
    assert (ApiToken.objects.count(), AuditEvent.objects.count()) == (0, 0)


def test_the_command_says_what_is_wrong() -> None:
    assert command("revoke", "fl_nosuch")[0] == 2
    assert command("revoke", "fl_nosuch")[1]["error"]["code"] == "unknown_token"
    assert command("create", "extra")[1]["error"]["code"] == "unexpected_word"


def test_the_page_shows_the_secret_once() -> None:
    teams = company()
    user, client = somebody("ada@example.com", ("engineer", teams["nlp"]))
    made = client.post("/settings/tokens/", {"name": "ci", "team": "nlp-eval", "days": "30"})
    assert (made.status_code, made["Cache-Control"].count("no-store")) == (201, 1)
    secret = made.content.decode().split('id="secret">')[1].split("<")[0]
    token = ApiToken.objects.get()
    assert (token.owner, token.team, token.created_by) == (user, teams["nlp-eval"], "ada@example.com")
    assert secret not in client.get("/settings/tokens/").content.decode()
    assert len(fetched(bearer(secret), "/api/v1/teams/")["results"]) == 1
    assert client.post("/settings/tokens/", {"revoke": token.prefix}).status_code == 302
    assert bearer(secret).get("/api/v1/teams/").status_code == 401


@pytest.mark.parametrize(
    "form", [{"name": "", "days": "30"}, {"name": "x", "days": "9999"}, {"name": "x", "days": "30", "team": "robotics"}]
)
def test_a_form_that_is_wrong_makes_nothing(form: dict[str, str]) -> None:
    _, client = somebody("ada@example.com", ("engineer", company()["nlp"]))
    assert client.post("/settings/tokens/", form).status_code == 400
    assert ApiToken.objects.count() == 0


def test_the_token_of_another_person_is_not_ones_own_to_see_or_end() -> None:
    teams = company()
    person("ada@example.com", ("admin", None))
    made = create_token(now=real_now(), by="x", owner="ada@example.com", name="adas-own", days=10)
    _, client = somebody("bob@example.com", ("engineer", teams["nlp"]))
    assert client.post("/settings/tokens/", {"revoke": made.token.prefix}).status_code == 404
    assert ApiToken.objects.get().revoked_at is None
    assert "adas-own" not in client.get("/settings/tokens/").content.decode()


def test_forms_from_elsewhere_are_refused() -> None:
    user, _ = somebody("ada@example.com", ("admin", None))
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(user)
    assert strict.post("/settings/tokens/", {"name": "x", "days": "30"}).status_code == 403
    assert ApiToken.objects.count() == 0


def test_so_many_calls_a_minute_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    company()
    _, client = somebody("ada@example.com", ("admin", None))
    made = create_token(now=real_now(), by="x", owner="ada@example.com", name="x", days=10)
    monkeypatch.setattr("people.api.callers.CALLS_PER_MINUTE", 2)
    monkeypatch.setattr("people.api.callers.real_now", lambda: NOW)
    statuses = [client.get("/api/v1/teams/").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = client.get("/api/v1/teams/")
    assert (refused["Retry-After"], refused.json()["error"]["code"]) == ("30", "too_many_calls")
    assert bearer(made.secret).get("/api/v1/teams/").status_code == 200  # a token counts for itself


def test_calls_are_counted_by_caller_and_minute() -> None:
    assert [calls.count_call("token:1", now=NOW) for _ in range(3)] == [1, 2, 3]
    assert calls.count_call("token:2", now=NOW) == 1
    assert calls.count_call("token:1", now=NOW + timedelta(seconds=29)) == 4
    assert calls.count_call("token:1", now=NOW + timedelta(seconds=30)) == 1
    assert calls.wait_of(NOW) == timedelta(seconds=30)
