"""All pages in one world, in every look: they fit, nothing is refused, axe is content, focus shows, print and weight.

Which pages there are stands in `tests/support/page_list.py`; a page that is missing there fails the quick suite.
`SHOTS=folder` keeps a picture of each.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.contrib.staticfiles import finders
from django.urls import get_resolver

from tests.browser.conftest import KNOWN, Look, serious
from tests.integration.test_every_door import patterns
from tests.support import page_worlds as worlds
from tests.support.page_list import ADMIN, PAGES

pytestmark = [pytest.mark.pages, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
HEAVIEST_KB = 400

# Elements that take focus and show it neither themselves nor through what stands around them.
WITHOUT_FOCUS = """() => [...document.querySelectorAll(
  'a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.disabled && !one.closest('.vh'))
  .filter((one) => {
    one.focus();
    if (document.activeElement !== one) return false;
    for (let at = one, up = 0; at && up < 3; at = at.parentElement, up += 1) {
      const style = getComputedStyle(at);
      if (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) return false;
    }
    return true;
  }).map((one) => one.outerHTML.slice(0, 120))"""
MOVING = "() => document.getAnimations().filter((one) => one.playState === 'running').length"
LOADED = """() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .map((one) => [one.name, one.encodedBodySize])"""
ON_PAPER = """() => [...document.querySelectorAll('.nav, .btn, .filters, .find, dialog')]
  .filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 100))"""


def addresses() -> list[str]:
    """Give every address that is routed here; the list may know pages of another set of apps."""
    there = set(patterns(get_resolver().url_patterns))
    return [address for pattern, listed in PAGES.items() if pattern in there for address in listed]


def faults(look: Look) -> list[str]:
    """Give what is wrong with the page that is open."""
    page, found = look.page, []
    width = page.evaluate("document.documentElement.scrollWidth")
    if width > look.width:
        found.append(f"{width} px wide")
    found += [one for one in page.evaluate("window.__refused") if KNOWN not in one]
    found += [f"script: {one}" for one in look.errors]
    look.errors.clear()
    found += serious(page)
    page.keyboard.press("Tab")  # from here on focus is the keyboard's
    found += [f"focus does not show: {one}" for one in page.evaluate(WITHOUT_FOCUS)]
    page.emulate_media(reduced_motion="reduce")
    if page.evaluate(MOVING):
        found.append("moves although motion is to be reduced")
    page.emulate_media(reduced_motion="no-preference")
    return found


def keep(look: Look, address: str) -> None:
    if folder := os.environ.get("SHOTS"):
        name = address.strip("/").replace("/", "-").replace("?", "_").replace("%", "") or "overview"
        look.page.screenshot(path=Path(folder) / f"{name}-{look.width}-{look.scheme}.png", full_page=look.width > 400)


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=lambda look: f"{look[0]}-{look[1]}")
def test_all_pages(look: Look) -> None:
    worlds.month_with_idle_machines()
    look.sign_in(ADMIN)
    wrong: dict[str, list[str]] = {}
    for address in addresses():
        look.open(address)
        keep(look, address)
        if found := faults(look):
            wrong[address] = found
    assert wrong == {}


@pytest.mark.parametrize(
    "look", [(1280, "light"), (390, "dark")], indirect=True, ids=lambda look: f"{look[0]}-{look[1]}"
)
def test_all_pages_while_nothing_is_connected(look: Look) -> None:
    worlds.nothing_connected()
    look.sign_in(ADMIN)
    wrong: dict[str, list[str]] = {}
    for pattern, listed in PAGES.items():
        if "<" in pattern or listed[0] not in addresses():
            continue
        look.open((pattern and f"/{pattern}") or "/")
        keep(look, f"{pattern}nothing")
        if found := faults(look):
            wrong[pattern] = found
    assert wrong == {}


def test_every_page_is_light_enough_and_prints(look: Look) -> None:
    worlds.month_with_idle_machines()
    look.sign_in(ADMIN)
    heavy, unprintable = {}, {}
    for address in addresses():
        look.open(address)
        size = sum(weight(name, body) for name, body in look.page.evaluate(LOADED))
        if size > HEAVIEST_KB * 1024:
            heavy[address] = size
        look.page.emulate_media(media="print")
        if left := look.page.evaluate(ON_PAPER):
            unprintable[address] = left
        look.page.emulate_media(media="screen")
    assert heavy == {}
    assert unprintable == {}


def weight(address: str, size: int) -> int:
    """Give the bytes on the wire: static files go compressed, pages as they are; plotly.js counts apart."""
    path = urlsplit(address).path
    if not path.startswith("/static/"):
        return size
    place = finders.find(path.removeprefix("/static/"))
    assert isinstance(place, str), path
    return 0 if "plotly" in path else len(gzip.compress(Path(place).read_bytes()))
