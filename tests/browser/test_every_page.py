"""Every page in every situation, wide and narrow, light and dark: it fits, nothing is refused, axe is content."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.conftest import Look
from tests.support import page_worlds as worlds
from tests.support.page_data import PASSWORD

pytestmark = [pytest.mark.pages, pytest.mark.django_db(transaction=True)]
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
PLACES = [
    (worlds.nothing_connected, ["/", "/idle/"]),
    (worlds.source_fails, ["/"]),
    (worlds.month_with_idle_machines, ["/?month=2025-06", "/?month=2025-06&team=vision", "/?month=2025-05", "/idle/"]),
    (worlds.month_with_idle_machines, ["/instances/lab/vis-h100-07/", "/instances/-/stray-01.cluster.example.com/"]),
    (worlds.month_with_idle_machines, ["/fleet/?group=team", "/instances/", "/jobs/"]),
    (worlds.month_with_idle_machines, ["/jobs/-/nlp/tokenise-with-a-rather-long-name/"]),
    (worlds.long_names, ["/fleet/?group=team", "/instances/", "/jobs/"]),
    (worlds.nothing_connected, ["/fleet/", "/instances/", "/jobs/"]),
    (worlds.unpriced_and_two_currencies, ["/?month=2025-06", "/?month=2025-06&team=robotics"]),
    (worlds.login_page_answers, ["/", "/idle/"]),
    (worlds.unassigned_only, ["/", "/?team=-"]),
    (worlds.long_names, ["/", "/idle/", f"/instances/lab/{worlds.LONG_HOST}/"]),
    (worlds.replayed, ["/", "/idle/"]),
    (worlds.month_with_idle_machines, ["/settings/tokens/", "/api/docs/"]),
    (worlds.source_fails, ["/sources/", "/sources/prom-main/", "/start/", "/settings/"]),
    (worlds.month_with_idle_machines, ["/sources/", "/settings/people/", "/settings/teams/", "/audit/", "/start/"]),
    (worlds.nothing_connected, ["/start/", "/sources/", "/settings/sections/policies/"]),
]


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=lambda look: f"{look[0]}-{look[1]}")
@pytest.mark.parametrize(
    ("world", "addresses"), PLACES, ids=[f"{world.__name__}{number}" for number, (world, _) in enumerate(PLACES)]
)
def test_a_page_in_a_situation(look: Look, world: Callable[[], None], addresses: list[str]) -> None:
    world()
    look.sign_in(worlds.ADMIN)
    for address in addresses:
        look.open(address)
        for plot in look.page.locator(".plot[data-figure]").all():
            plot.locator(".trace").first.wait_for(state="attached")
        look.check()


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=lambda look: f"{look[0]}-{look[1]}")
def test_the_sign_in_page_and_its_errors(look: Look) -> None:
    worlds.nothing_connected()
    look.open("/sign-in/")
    look.check()
    look.page.fill("#email", worlds.ADMIN)
    look.page.fill("#password", "wrong")
    look.page.press("#password", "Enter")
    look.page.wait_for_selector("[role=alert]")
    look.errors.clear()  # the browser itself reports the answer 403
    look.check()


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=lambda look: f"{look[0]}-{look[1]}")
def test_the_friendly_page_without_a_grant_and_a_page_that_is_not_there(look: Look) -> None:
    worlds.no_grant()
    look.sign_in(worlds.ADMIN)
    for address in ("/", "/no-such-page/"):
        look.open(address)
        look.errors.clear()  # the browser itself reports the answers 403 and 404
        look.check()


def test_the_theme_switch_redraws_and_is_kept(look: Look) -> None:
    worlds.month_with_idle_machines()
    look.sign_in(worlds.ADMIN)
    look.open("/?as=manager&month=2025-06")
    bar = look.page.locator("[data-figure=days-USD] .bars .point path").first
    bar.wait_for()
    light = bar.evaluate("(path) => getComputedStyle(path).fill")
    look.page.click("[data-theme-switch]")
    look.page.wait_for_function(
        "(light) => getComputedStyle(document.querySelector('#main .bars .point path')).fill !== light",
        arg=light,
    )
    look.open("/idle/")
    assert look.page.evaluate("document.documentElement.dataset.theme") == "dark"
    look.check()


def test_every_control_is_reached_by_the_keyboard(look: Look) -> None:
    worlds.month_with_idle_machines()
    look.sign_in(worlds.ADMIN)
    look.page.keyboard.press("Tab")
    assert look.page.evaluate("document.activeElement.textContent") == "Skip to content"
    wanted = look.page.evaluate(
        "[...document.querySelectorAll('a[href], button, select, summary, [tabindex=\"0\"]')]"
        ".filter((one) => one.checkVisibility()).length"
    )
    seen = set()
    for _step in range(wanted + 5):
        seen.add(
            look.page.evaluate(
                "[...document.querySelectorAll('a[href], button, select, summary, [tabindex=\"0\"]')]"
                ".indexOf(document.activeElement)"
            )
        )
        look.page.keyboard.press("Tab")
    assert len(seen - {-1}) == wanted


def test_without_script_numbers_and_tables_stand(look: Look, chromium: object) -> None:
    worlds.month_with_idle_machines()
    context = chromium.new_context(java_script_enabled=False)  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(f"{look.base}/sign-in/")
    page.fill("#email", worlds.ADMIN)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(f"{look.base}/")
    page.goto(f"{look.base}/teams/?month=2025-06")
    assert page.locator("#teams tbody tr").count() == 4
    assert page.locator("nav >> text=Idle machines").is_visible()
    context.close()
