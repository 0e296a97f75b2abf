"""No page escapes the browser: what is routed is opened by `tests/browser/test_all_pages.py`, or says why not."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import get_resolver

from people.models import User
from tests.integration.test_every_door import patterns
from tests.support import page_worlds as worlds
from tests.support.page_list import ADMIN, NO_PAGES, PAGES, is_for_programs


def routed() -> set[str]:
    return {one for one in patterns(get_resolver().url_patterns) if not is_for_programs(one)}


def test_every_address_is_a_page_that_is_opened_or_says_why_not() -> None:
    assert routed() - set(PAGES) - set(NO_PAGES) == set(), "a new page needs a line in tests/support/page_list.py"
    assert set(NO_PAGES) - routed() - {"incidents/"} == set()
    assert set(PAGES) & set(NO_PAGES) == set()


@pytest.mark.django_db
def test_every_page_of_the_list_is_there() -> None:
    worlds.month_with_idle_machines()
    client = Client()
    client.force_login(User.objects.get(email=ADMIN))
    there = routed()
    answers = {
        address: client.get(address).status_code
        for pattern, addresses in PAGES.items()
        if pattern in there
        for address in addresses
    }
    assert {address: status for address, status in answers.items() if status != 200} == {}
