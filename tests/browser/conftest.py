"""A real browser on a live server. Every page that a test opens is watched: errors, refused code, missing files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from tests.support.page_data import PASSWORD
from tests.support.processes import require_program

# plotly.js tries to add MapLibre's CSS, which stays refused and is not needed (docs/adr on figures).
KNOWN = "maplibregl"
WATCH = """
window.__refused = [];
document.addEventListener('securitypolicyviolation', (event) => window.__refused.push(
  event.effectiveDirective + ' ' + event.blockedURI + ' ' + (event.target?.textContent ?? '').slice(0, 60)));
"""


@dataclass
class Look:
    """A way to look at a page: width, colour scheme."""

    width: int
    scheme: str
    context: BrowserContext
    page: Page
    base: str
    errors: list[str] = field(default_factory=list)

    def sign_in(self, email: str) -> None:
        """Go through the form as a person does."""
        self.open("/sign-in/")
        self.page.fill("#email", email)
        self.page.fill("#password", PASSWORD)
        self.page.press("#password", "Enter")
        self.page.wait_for_url(f"{self.base}/")

    def open(self, address: str) -> None:
        """Load a page whole."""
        self.page.goto(self.base + address)
        self.page.wait_for_load_state("networkidle")

    def check(self) -> None:
        """Assert what holds for every page: it fits, nothing was refused, nothing failed, axe finds nothing serious."""
        # Not against window.innerWidth: a phone zooms out for what is too wide, and that grows with it.
        assert self.page.evaluate("document.documentElement.scrollWidth") <= self.width
        refused = [one for one in self.page.evaluate("window.__refused") if KNOWN not in one]
        assert refused == []
        assert self.errors == []
        assert serious(self.page) == []


def serious(page: Page) -> list[str]:
    """Give what axe calls serious or critical, with the element it means."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]} {one['nodes'][0]['failureSummary'][:200]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]


def _axe_file() -> Path:
    import axe_playwright_python

    return next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js"))


AXE = _axe_file()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Give the system's Chromium."""
    program = require_program("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(program), args=["--no-sandbox"])
        yield browser
        browser.close()


def _context(browser: Browser, width: int, scheme: str) -> BrowserContext:
    if width >= 1024:
        return browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    return browser.new_context(
        viewport={"width": width, "height": 844}, is_mobile=True, has_touch=True, color_scheme=scheme,  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.fixture(params=[(1280, "light")], ids=lambda look: f"{look[0]}-{look[1]}")
def look(request: pytest.FixtureRequest, chromium: Browser, live_server: object) -> Iterator[Look]:
    """Give a page in a browser; parametrise indirectly for other widths and schemes."""
    width, scheme = request.param
    context = _context(chromium, width, scheme)
    context.add_init_script(WATCH)
    page = context.new_page()
    shown = Look(width, scheme, context, page, str(live_server))

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error" and "Content Security Policy" not in message.text:  # counted by __refused
            shown.errors.append(message.text)

    page.on("console", on_console)
    page.on("pageerror", lambda error: shown.errors.append(str(error)))

    def on_failure(wish: Request) -> None:
        if wish.failure != "net::ERR_ABORTED":  # the page was left before its icon came
            shown.errors.append(f"{wish.url} {wish.failure}")

    page.on("requestfailed", on_failure)
    yield shown
    context.close()
