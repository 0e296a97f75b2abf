"""Signing in: who may, how guessing is slowed down, where one goes afterwards."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client

from common.clock import real_now
from people.actions.sign_in import Attempt, record_failure, remaining_wait, wait_after
from people.models import AuditEvent, SignInFailure
from tests.support.page_data import PASSWORD, person

pytestmark = pytest.mark.django_db


def sign_in(client: Client, email: str, password: str, **more: str):
    return client.post("/sign-in/", {"email": email, "password": password, **more})


def test_the_right_password_opens_the_door(client: Client) -> None:
    person("ada@example.com", ("admin", None), password=PASSWORD)
    answer = sign_in(client, "Ada@Example.com", PASSWORD, next="/idle/?page=2")
    assert (answer.status_code, answer["Location"]) == (302, "/idle/?page=2")
    assert client.get("/").status_code == 200
    event = AuditEvent.objects.get()
    assert (event.by, event.action) == ("ada@example.com", "sign_in")


@pytest.mark.parametrize(
    "wanted",
    ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example", "idle", "a:b", "%0d%0aX:1"],
)
def test_next_stays_on_this_site(client: Client, wanted: str) -> None:
    person("ada@example.com", ("admin", None), password=PASSWORD)
    assert sign_in(client, "ada@example.com", PASSWORD, next=wanted)["Location"] == "/"


@pytest.mark.parametrize("email", ["ada@example.com", "nobody@example.com", "mute@example.com", "gone@example.com"])
def test_every_refusal_reads_the_same(client: Client, email: str) -> None:
    person("ada@example.com", ("admin", None), password=PASSWORD)
    person("mute@example.com", ("admin", None))
    gone = person("gone@example.com", ("admin", None), password=PASSWORD)
    gone.is_active = False
    gone.save()
    answer = sign_in(client, email, PASSWORD if email.startswith("gone") else "wrong")
    assert answer.status_code == 403
    assert "don’t match" in re.sub(r"\s+", " ", answer.content.decode())
    assert "_auth_user_id" not in client.session


def test_after_five_failures_the_right_password_has_to_wait_too(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = real_now()
    monkeypatch.setattr("people.views.door.real_now", lambda: at)
    person("ada@example.com", ("admin", None), password=PASSWORD)
    for _try in range(5):
        assert sign_in(client, "ada@example.com", "wrong").status_code == 403
    answer = sign_in(client, "ADA@example.com", PASSWORD)
    assert (answer.status_code, answer["Retry-After"]) == (429, "5")
    assert "_auth_user_id" not in client.session


def test_success_forgets_the_failures_of_the_person_but_not_of_the_address(client: Client) -> None:
    person("ada@example.com", ("admin", None), password=PASSWORD)
    for _try in range(4):
        sign_in(client, "ada@example.com", "wrong")
    assert sign_in(client, "ada@example.com", PASSWORD).status_code == 302
    assert [(row.key.split(":")[0], row.failures) for row in SignInFailure.objects.all()] == [("address", 4)]


def test_one_address_guessing_at_many_people_is_slowed_down() -> None:
    now = real_now()
    for number in range(30):
        record_failure(Attempt(f"p{number}@example.com", "192.0.2.7"), now=now)
    assert remaining_wait(Attempt("new@example.com", "192.0.2.7"), now=now) == timedelta(seconds=5)
    assert remaining_wait(Attempt("new@example.com", "192.0.2.8"), now=now) == timedelta(0)
    assert remaining_wait(Attempt("new@example.com", "192.0.2.7"), now=now + timedelta(hours=1)) == timedelta(0)


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (4, 0), (5, 5), (6, 10), (7, 20), (10, 160), (11, 300), (1000, 300)]
)
def test_each_further_failure_doubles_the_wait(failures: int, seconds: int) -> None:
    assert wait_after(failures, free=5) == timedelta(seconds=seconds)


def test_signing_out_needs_a_post(client: Client) -> None:
    person("ada@example.com", ("admin", None), password=PASSWORD)
    sign_in(client, "ada@example.com", PASSWORD)
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/").status_code == 200
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/")["Location"] == "/sign-in/?next=/"


def test_a_form_without_its_secret_is_refused() -> None:
    client = Client(enforce_csrf_checks=True)
    person("ada@example.com", ("admin", None), password=PASSWORD)
    assert sign_in(client, "ada@example.com", PASSWORD).status_code == 403
    assert "_auth_user_id" not in client.session


def test_no_password_stands_in_the_page_again(client: Client) -> None:
    assert b"hunter2hunter2" not in sign_in(client, "ada@example.com", "hunter2hunter2").content
