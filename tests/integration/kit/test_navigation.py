"""The menu: what each role has in it answers them, and a page that is open is marked."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from config.navigation import ITEMS, address_of
from tests.integration.test_every_door import client_of
from tests.support.api_world import api_world
from tests.support.door_matrix import WHO

pytestmark = pytest.mark.django_db
LINE = re.compile(r'<li><a href="([^"]+)"( aria-current="page")?>')


def menu_of(client: Client, address: str) -> dict[str, bool]:
    page = client.get(address).content.decode()
    body = re.search(r"<nav aria-label=.*?</nav>", page, re.DOTALL)
    assert body
    return {href: bool(current) for href, current in LINE.findall(body[0]) if "?save=" not in href}


@pytest.mark.parametrize("who", [one for one in WHO if one != "nobody"])
def test_nothing_in_the_menu_is_refused(who: str) -> None:
    client = client_of(who, api_world(datetime.now(UTC).replace(microsecond=0)))
    shown = menu_of(client, "/help/")
    assert shown["/help/"] is True
    assert [href for href, current in shown.items() if current] == ["/help/"]
    assert {href: client.get(href).status_code for href in shown} == dict.fromkeys(shown, 200)


def test_an_administrator_has_every_page_that_there_is() -> None:
    client = client_of("admin", api_world(datetime.now(UTC).replace(microsecond=0)))
    there = {address_of(item.routes[0]) for item in ITEMS} - {""}
    assert there == set(menu_of(client, "/help/money/"))


def test_a_team_mate_has_no_page_of_the_whole_house() -> None:
    client = client_of("member", api_world(datetime.now(UTC).replace(microsecond=0)))
    assert not {"/audit/", "/settings/people/", "/start/"} & set(menu_of(client, "/help/"))
