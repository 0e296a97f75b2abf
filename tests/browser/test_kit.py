"""The kit in a browser: the palette by keyboard, and a page that renews itself without jumping."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route

from people.models import Organization
from tests.browser.conftest import Look
from tests.support import page_worlds as worlds

CHOSEN = "#palette-list [aria-selected=true][data-href*='vis-h100-07']"
pytestmark = [pytest.mark.pages, pytest.mark.django_db(transaction=True)]


def test_the_palette_by_keyboard(look: Look) -> None:
    worlds.month_with_idle_machines()
    look.sign_in(worlds.ADMIN)
    look.open("/help/")
    page = look.page
    page.keyboard.press("/")
    box = page.locator("#palette-q")
    assert box.evaluate("(one) => one === document.activeElement")
    page.locator("#palette-list [role=option]").first.wait_for()
    page.keyboard.type("vis-h100-07")
    page.locator(CHOSEN).wait_for()
    first = box.get_attribute("aria-activedescendant")
    page.keyboard.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") != first
    page.keyboard.press("ArrowUp")
    assert box.get_attribute("aria-activedescendant") == first
    look.check()
    page.keyboard.press("Escape")
    assert not page.locator("#palette").is_visible()
    page.keyboard.press("Control+k")
    page.locator(CHOSEN).wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/instances/lab/vis-h100-07/")


def test_a_slash_in_a_field_is_a_slash(look: Look) -> None:
    worlds.nothing_connected()
    look.sign_in(worlds.ADMIN)
    look.open("/search/")
    look.page.focus("#search-q")
    look.page.keyboard.type("a/b")
    assert look.page.input_value("#search-q") == "a/b"
    assert not look.page.locator("#palette").is_visible()


def test_a_page_renews_itself_without_jumping_and_says_when_it_can_not(look: Look) -> None:
    worlds.month_with_idle_machines()
    look.sign_in(worlds.ADMIN)
    look.open("/design/")
    page = look.page
    state = (
        "() => [document.activeElement.id, scrollY, document.querySelector('#limit').value, "
        "document.querySelector('#figure-design-plot .trace') === window.drawn]"
    )
    page.evaluate("window.drawn = document.querySelector('#figure-design-plot .trace')")
    page.fill("#limit", "half typed")
    page.focus("#machines-by-cost")
    page.evaluate("scrollTo(0, 400)")
    before = page.evaluate(state)
    Organization.objects.update(name="Renamed")
    with page.expect_response("**/design/") as answer:
        page.evaluate("htmx.trigger('#main', 'renew')")
    assert answer.value.status == 200
    page.wait_for_timeout(300)
    assert page.evaluate(state) == before
    assert not page.locator("#stale").is_visible()

    def refuse(route: Route) -> None:
        route.abort()

    page.route("**/design/", refuse)
    page.evaluate("htmx.trigger('#main', 'renew')")
    page.locator("#stale").wait_for(state="visible")
    look.errors.clear()  # the browser reports the request that failed
    page.unroute("**/design/")
    page.click("[data-renew]")
    page.locator("#stale").wait_for(state="hidden")
    look.check()
