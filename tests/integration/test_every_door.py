"""Every address of the product, asked by every kind of person: exact statuses, and no refusal changes anything."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.support.api_world import ApiWorld, api_world
from tests.support.door_matrix import LINES, WHO, Line
from tests.support.page_data import person

pytestmark = pytest.mark.django_db
# What any look at the product may write: the session, and how often a caller called.
BESIDE = {"django_session", "people_apicalls"}


def patterns(among: list[Any], before: str = "") -> Iterator[str]:
    """Give every address pattern of the project, whole."""
    for one in among:
        if isinstance(one, URLResolver):
            yield from patterns(one.url_patterns, before + str(one.pattern))
        elif isinstance(one, URLPattern):
            yield before + str(one.pattern)


def digests() -> dict[str, str]:
    """Give a digest of every table's rows."""
    names = [name for name in connection.introspection.table_names() if name not in BESIDE]
    parts = " UNION ALL ".join(
        f"SELECT '{name}', md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM \"{name}\" t"
        for name in names
    )
    with connection.cursor() as cursor:
        cursor.execute(parts)
        return dict(cursor.fetchall())


def client_of(who: str, world: ApiWorld) -> Client:
    grants = {
        "other": ("engineer", "vision"), "member": ("engineer", "nlp"), "lead": ("team_lead", "nlp"),
        "finance": ("finance", None), "viewer": ("viewer", None), "admin": ("admin", None),
    }  # fmt: skip
    client = Client()
    if who in grants:
        role, team = grants[who]
        client.force_login(person(f"{who}@example.com", (role, world.teams[team] if team else None)))
    return client


def ask(client: Client, line: Line) -> int:
    method = getattr(client, line.method.lower())
    answer = method(line.address, line.form) if line.form else method(line.address)
    answer.getvalue()
    return int(answer.status_code)


def test_every_address_has_a_line() -> None:
    known = set(patterns(get_resolver().url_patterns))
    told = {line.pattern for line in LINES}
    assert known - told == set(), "a new address needs a line in tests/support/door_matrix.py"
    assert told - known == set()


def test_every_line_is_of_its_pattern() -> None:
    resolver = get_resolver()
    for line in LINES:
        assert resolver.resolve(line.address.partition("?")[0]).route == line.pattern


@pytest.mark.parametrize("who", WHO)
def test_every_address_answers_each_person_as_it_should(who: str) -> None:
    world = api_world(datetime.now(UTC).replace(microsecond=0))
    found, wanted, changed = {}, {}, {}
    for number, line in enumerate(LINES):
        with transaction.atomic():  # what a line writes is gone for the next one
            client = client_of(who, world)
            before = digests()
            key = f"{number} {line.method} {line.address}"
            found[key], wanted[key] = ask(client, line), line.statuses[WHO.index(who)]
            if found[key] >= (300 if who == "nobody" else 400):  # 302 of a signed-in person may follow an act
                changed[key] = digests() == before
            transaction.set_rollback(True)
    assert found == wanted
    assert [key for key, same in changed.items() if not same] == []


def test_the_eye_for_changes_sees_one() -> None:
    world = api_world(datetime.now(UTC))
    before = digests()
    world.machines["nlp"].host = "elsewhere"
    world.machines["nlp"].save()
    assert [name for name, one in digests().items() if one != before[name]] == ["fleet_instance"]
