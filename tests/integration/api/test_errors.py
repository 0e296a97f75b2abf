"""Every refusal of the API has one shape, says what to do, and tells nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from people.api import views
from tests.support.api_world import fetched, somebody
from tests.support.page_data import company

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return somebody("ada@example.com", ("admin", None))[1]


ASKED = [
    ("teams/?limit=0", "bad_limit", "limit"),
    ("teams/?limit=501", "bad_limit", "limit"),
    ("teams/?limit=%C2%B2", "bad_limit", "limit"),
    ("teams/?cursor=abc", "bad_cursor", "cursor"),
    ("teams/?cursor=WyJhIl0", "bad_cursor", "cursor"),
    ("teams/?cursor=Wy0xXQ", "bad_cursor", "cursor"),
    ("teams/?curser=abc", "unknown_parameter", "curser"),
    ("teams/?limit=1&limit=2", "repeated_parameter", "limit"),
    ("jobs/?state=idle", "bad_choice", "state"),
    ("jobs/?running=yes", "bad_choice", "running"),
    ("jobs/?since=yesterday", "bad_time", None),
    ("jobs/?since=2025-06-03T11:00:00", "bad_time", None),
    ("jobs/?owner=%00", "bad_text", "owner"),
    ("spend/", "bad_period", "month"),
    ("spend/?month=2025-06&since=2025-06-01", "bad_period", "month"),
    ("spend/?month=2025-13", "bad_month", None),
    ("spend/?month=2025-06&group_by=teem", "bad_group_by", "group_by"),
    ("spend/?month=2025-06&time_zone=Mars", "bad_time_zone", "time_zone"),
    ("spend/?month=2025-06&basis=gross", "bad_choice", "basis"),
    ("spend/?since=2025-06-01T10:30:00Z&until=2025-07-01", "bad_time", "since"),
    ("spend/?since=2025-07-01&until=2025-06-01", "period_backwards", None),
    ("spend/?since=2025-01-01&until=2025-12-31&group_by=instance", "period_too_long", "since"),
    ("spend/?since=2000-01-01&until=2025-12-31", "period_too_long", "since"),
    ("runtime/", "bad_month", "month"),
    ("instances/lab/x/?at=now", "unknown_parameter", "at"),
]


def test_a_question_that_can_not_be_read_is_told_why(client: Client) -> None:
    company()
    for address, code, key in ASKED:
        document = fetched(client, f"/api/v1/{address}", 400)
        assert set(document) == {"error"}
        error = document["error"]
        assert (error["code"], error["where"]) == (code, {"file": None, "line": None, "key": key}), address
        assert error["message"].endswith(".")


def test_strangers_are_asked_who_they_are() -> None:
    for address in ("teams/", "no-such-route/", "instances/lab/x/"):
        answer = Client().get(f"/api/v1/{address}")
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
        assert answer.json()["error"]["code"] == "not_signed_in"


def test_what_is_no_route_is_not_found_in_the_same_shape(client: Client) -> None:
    for address in ("/api/v1/no-such/", "/api/v2/teams/", "/api/", "/api/v1/teams"):
        assert fetched(client, address, 404)["error"]["code"] == "not_found"


def test_methods_that_would_write_are_not_known(client: Client) -> None:
    for method in (client.post, client.put, client.patch, client.delete, client.options):
        answer = method("/api/v1/teams/")
        assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")


def test_a_session_needs_its_csrf_token_for_whatever_could_write() -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(somebody("ada@example.com", ("admin", None))[0])
    assert strict.post("/api/v1/teams/").json()["error"]["code"] == "refused"


def test_who_has_no_role_is_told_so() -> None:
    assert fetched(somebody("new@example.com")[1], "/api/v1/teams/", 403)["error"]["code"] == "not_permitted"


def test_only_json_is_spoken(client: Client) -> None:
    assert fetched(client, "/api/v1/teams/", 406, headers={"Accept": "text/html"})["error"]["code"] == "not_acceptable"


def test_what_nobody_foresaw_is_not_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: Any) -> Any:
        raise RuntimeError("password of the database")

    monkeypatch.setattr(views, "whole_page", broken)
    document = fetched(client, "/api/v1/teams/", 500)
    assert document["error"]["code"] == "internal_error"
    assert "password" not in str(document)


def test_answers_are_kept_by_nobody_else(client: Client) -> None:
    answer = client.get("/api/v1/teams/")
    assert {"private", "no-store"} <= set(answer["Cache-Control"].split(", "))


def test_the_schema_is_open_to_all_and_the_page_is_not(client: Client) -> None:
    yaml = Client().get("/api/schema/")
    assert (yaml.status_code, yaml["Content-Type"]) == (200, "application/yaml; charset=utf-8")
    assert Client().get("/api/schema/", headers={"Accept": "application/json"}).json()["openapi"] == "3.1.0"
    assert Client().get("/api/docs/").status_code == 302
    page = client.get("/api/docs/").content.decode()
    for words in ("/api/v1/instances/{account}/{external_id}/", "gpus[].uuid", "period.time_zone", "results[].kind"):
        assert words in page
    assert "<script>" not in page
    assert "style=" not in page
