"""A quick look in a real browser, in every test run: the pages come up, the pictures are drawn, the keyboard works."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from tests.browser.conftest import Look
from tests.support.page_data import PASSWORD, company, machine, month_of, person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def fill() -> None:
    """A company with a month and some idle machines, and its administrator."""
    teams = company()
    month_of(teams, date(2025, 6, 1), 30)
    now = datetime.now(UTC)
    for name, team in {"vis-h100-07": "vision", "rob-a100-08": "robotics", "nlp-h100-12": "nlp"}.items():
        machine(name, teams[team], "held", now=now, price="" if team == "nlp" else "32.80")
    machine("stray-01", None, "empty", now=now, account=False, price="")
    person("ingrid@example.com", ("admin", None), password=PASSWORD)


def test_sign_in_see_the_pictures_open_a_record(look: Look) -> None:
    fill()
    look.sign_in("ingrid@example.com")
    look.open("/?as=manager")
    look.page.wait_for_selector("#days-USD-plot .bars .point path")
    assert look.page.locator("#days-USD-plot .trace.bars").count() == 6
    look.check()
    look.open("/idle/")
    look.page.click("text=vis-h100-07")
    look.page.wait_for_url("**/instances/lab/vis-h100-07/")
    assert look.page.locator("h1").inner_text() == "vis-h100-07"
    look.check()


def test_the_list_of_idle_machines_renews_in_place(look: Look) -> None:
    fill()
    look.sign_in("ingrid@example.com")
    look.open("/idle/")
    link = look.page.locator("main a[href^='/instances/']").first
    link.focus()
    where = "[document.activeElement.getAttribute('href'), document.scrollingElement.scrollHeight]"
    before = look.page.evaluate(where)
    with look.page.expect_response("**/idle/") as answer:
        look.page.evaluate("htmx.trigger('#main', 'renew')")
    assert answer.value.status == 200
    look.page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
    assert look.page.evaluate(where) == before
    look.check()


@pytest.mark.parametrize("look", [(390, "dark")], indirect=True)
def test_on_a_phone_one_can_reach_everything(look: Look) -> None:
    fill()
    look.sign_in("ingrid@example.com")
    look.page.click("button[aria-controls=nav]")
    assert look.page.locator("nav >> text=Idle machines").is_visible()
    assert look.page.locator("button[aria-label='Sign out']").is_visible()
    look.check()
    look.page.click("button[aria-label='Sign out']")
    look.page.wait_for_url("**/sign-in/")
