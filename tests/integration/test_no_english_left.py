"""Every page in Chinese: what a reader sees holds no word of English but names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.test import Client

from fleet.models import Instance
from people.models import User
from tests.support import page_worlds as worlds
from tests.support.api_world import api_world
from tests.support.door_matrix import LINES
from tests.support.page_data import person
from tests.support.shown_words import NAMES, english_left, shown_texts

pytestmark = pytest.mark.django_db
CHINESE = {"Accept-Language": "zh-CN"}
ADDRESSES = [
    line.address for line in LINES if line.method == "GET" and not line.address.startswith(("/api/", "/metrics"))
]


def left(client: Client, address: str) -> list[str]:
    answer = client.get(address, headers=CHINESE)
    if answer.streaming or not answer["Content-Type"].startswith("text/html"):
        return []
    texts = shown_texts(answer.content.decode())
    return [f"{address}: {text!r} has {found}" for text in texts if (found := english_left(text, NAMES))]


def test_english_is_found() -> None:
    page = (
        '<html lang="zh-hans"><body><p title="two words">费用 so far<code>manage.py go</code></p><p lang="en">As it is'
        '</p><script type="application/json">{"data": [{"name": "max", "type": "bar"}]}</script></body></html>'
    )
    found = [word for text in shown_texts(page) for word in english_left(text, NAMES)]
    assert found == ["two", "words", "so", "far", "max"]


def test_every_address_of_a_small_company() -> None:
    api_world(datetime.now(UTC).replace(microsecond=0))
    client = Client()
    client.force_login(person(worlds.ADMIN, ("admin", None)))
    assert [found for address in ADDRESSES for found in left(client, address)] == []


@pytest.mark.parametrize(
    "world",
    [
        worlds.nothing_connected, worlds.source_fails, worlds.month_with_idle_machines, worlds.replayed,
        worlds.unpriced_and_two_currencies, worlds.unassigned_only, worlds.no_grant,
    ],
    ids=lambda world: world.__name__,
)  # fmt: skip
def test_every_address_in_a_situation(world: Callable[[], None]) -> None:
    world()
    client = Client()
    client.force_login(User.objects.get(email=worlds.ADMIN))
    machines = Instance.objects.select_related("account")
    records = [f"/instances/{one.account.name if one.account else '-'}/{one.external_id}/" for one in machines]
    addresses = dict.fromkeys([*ADDRESSES, "/?month=2025-06", "/?month=2020-01", "/?month=x", "/no-such/", *records])
    assert [found for address in addresses for found in left(client, address)] == []
    assert left(Client(), "/sign-in/") == []
