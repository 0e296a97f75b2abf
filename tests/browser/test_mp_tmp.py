import os

import pytest

from tests.browser.conftest import Look
from tests.support import page_worlds as worlds

pytestmark = [pytest.mark.pages, pytest.mark.django_db(transaction=True)]
PAGES = os.environ.get("MP_PAGES", "/teams/?month=2025-06 /teams/nlp/?month=2025-06").split()
WORLD = os.environ.get("MP_WORLD", "money_month")
LOOKS = [(1280, "light")] if os.environ.get("MP_ONE") else [(1280, "light"), (390, "light"), (1280, "dark")]


@pytest.mark.parametrize("look", LOOKS, indirect=True, ids=lambda look: f"{look[0]}-{look[1]}")
def test_shots(look: Look) -> None:
    getattr(worlds, WORLD)()
    look.sign_in(os.environ.get("MP_WHO", worlds.ADMIN))
    bad = []
    for n, address in enumerate(PAGES):
        look.open(address)
        for plot in look.page.locator(".plot[data-figure]").all():
            plot.locator(".trace").first.wait_for(state="attached", timeout=8000)
        look.page.screenshot(
            path=f"/tmp/mp/{n}-{look.width}-{look.scheme}.png", full_page=not os.environ.get("MP_FOLD")
        )
        try:
            look.check()
        except AssertionError as error:
            bad.append((address, str(error)[:600]))
    assert bad == []
