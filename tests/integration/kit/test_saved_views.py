"""Saved views: one's own, under names, audited; an address gives no right."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from people.models import AuditEvent, SavedView, User
from tests.support.page_data import company, person

pytestmark = pytest.mark.django_db


@pytest.fixture
def vera() -> User:
    teams = company()
    return person("vera@example.com", ("engineer", teams["vision"]))


def post(user: User, **form: Any) -> Any:
    client = Client()
    client.force_login(user)
    return client.post("/views/", form)


def acts() -> list[tuple[str, str]]:
    return list(AuditEvent.objects.order_by("pk").values_list("action", "subject"))


def test_save_rename_remove_each_leave_a_trace(vera: User) -> None:
    answer = post(vera, act="save", name="  Idle  in vision ", path="/idle/?team=vision&page=2")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/views/")
    view = SavedView.objects.get()
    assert (view.user, view.name, view.path) == (vera, "Idle in vision", "/idle/?team=vision&page=2")
    assert post(vera, act="rename", view=view.pk, name="Ours").status_code == 302
    client = Client()
    client.force_login(vera)
    page = client.get("/design/").content.decode()
    assert '<a href="/idle/?team=vision&amp;page=2">' in page
    assert "Ours" in page
    assert post(vera, act="remove", view=view.pk).status_code == 302
    assert not SavedView.objects.exists()
    assert acts() == [("save_view", "Idle in vision"), ("rename_view", "Idle in vision"), ("remove_view", "Ours")]


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example.com/",
        "https://evil.example.com/",
        "javascript:alert(1)",
        "/no-such-page/",
        "/\\evil",
        "idle/",
        "",
    ],
)
def test_only_pages_of_ours_can_be_saved(vera: User, path: str) -> None:
    answer = post(vera, act="save", name="x", path=path)
    assert answer.status_code == 400
    assert not SavedView.objects.exists()
    assert acts() == []


def test_a_name_is_taken_once_in_any_case_by_each(vera: User) -> None:
    other = person("otto@example.com", ("engineer", None))
    assert post(vera, act="save", name="Mine", path="/").status_code == 302
    assert post(vera, act="save", name="MINE", path="/idle/").status_code == 400
    assert post(other, act="save", name="mine", path="/idle/").status_code == 302
    assert SavedView.objects.count() == 2


def test_nobody_touches_anothers_views(vera: User) -> None:
    post(vera, act="save", name="Mine", path="/")
    view = SavedView.objects.get()
    other = person("otto@example.com", ("admin", None))
    for form in ({"act": "rename", "view": view.pk, "name": "x"}, {"act": "remove", "view": view.pk}):
        assert post(other, **form).status_code == 400
    assert SavedView.objects.get().name == "Mine"
    client = Client()
    client.force_login(other)
    assert "Mine" not in client.get("/views/").content.decode()


def test_there_is_an_end_to_them(vera: User) -> None:
    for number in range(30):
        assert post(vera, act="save", name=f"view {number}", path="/").status_code == 302
    assert post(vera, act="save", name="one more", path="/").status_code == 400
    assert SavedView.objects.count() == 30


def test_what_is_shown_is_what_the_one_who_opens_may_see(vera: User) -> None:
    post(vera, act="save", name="theirs", path="/idle/?team=nlp")
    client = Client()
    client.force_login(vera)
    assert client.get(SavedView.objects.get().path).status_code == 404
