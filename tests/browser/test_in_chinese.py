"""Pages in Chinese in a real browser: nothing overflows, axe is content, no English is left, not in pictures either."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Look
from tests.support import page_worlds as worlds
from tests.support.shown_words import NAMES, english_left, shown_texts

pytestmark = [pytest.mark.pages, pytest.mark.django_db(transaction=True)]
LOOKS = [(1280, "light"), (390, "dark")]
ADDRESSES = [
    "/?month=2025-06", "/fleet/", "/instances/", "/instances/lab/vis-h100-07/", "/idle/", "/jobs/?when=7d", "/teams/",
    "/unassigned/", "/prices/", "/sources/", "/settings/", "/settings/people/", "/audit/", "/start/", "/help/",
]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=lambda look: f"{look[0]}-{look[1]}")
def test_pages_fit_and_hold_no_english(look: Look) -> None:
    worlds.month_with_idle_machines()
    look.context.set_extra_http_headers({"Accept-Language": "zh-CN"})
    look.sign_in(worlds.ADMIN)
    found = []
    for address in ADDRESSES:
        look.open(address)
        for plot in look.page.locator(".plot[data-figure]").all():
            plot.locator(".trace").first.wait_for(state="attached")
        drawn = look.page.locator(".plot svg text").all_text_contents()
        texts = [*shown_texts(look.page.content()), *drawn]
        found += [f"{address}: {text!r} has {words}" for text in texts if (words := english_left(text, NAMES))]
        look.check()
    assert found == []


def test_the_switch_changes_the_language_and_stays_on_the_page(look: Look) -> None:
    worlds.month_with_idle_machines()
    look.sign_in(worlds.ADMIN)
    look.open("/idle/?team=nlp")
    look.page.get_by_role("button", name="简体中文").click()
    look.page.wait_for_selector("html[lang=zh-hans]")
    assert look.page.url == f"{look.base}/idle/?team=nlp"
    assert look.page.locator("h1").inner_text() == "闲置机器"
    look.check()
    look.page.get_by_role("button", name="English").click()
    look.page.wait_for_selector("html[lang=en]")
    assert look.page.locator("h1").inner_text() == "Idle machines"
