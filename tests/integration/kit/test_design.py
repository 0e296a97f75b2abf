"""The page of the design system shows every part there is: templates of the kit, kinds of cells, classes, icons."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from common.cells import Kind
from config.pages.design import MACHINES
from tests.architecture.tree import ROOT, files
from tests.support.page_data import company, person

# Names of parts inside other parts, or of what only some data makes appear.
ELSEWHERE = {
    "app", "contents", "prose", "hits", "sticky", "deep", "icon", "acts", "crumbs", "half", "main-side", "wide-side",
    "two", "toasts", "sheet", "skip", "vh",
}  # fmt: skip


@pytest.fixture
def page(db: None) -> str:
    company()
    client = Client()
    client.force_login(person("ingrid@example.com", ("viewer", None)))
    return client.get("/design/").content.decode()


def test_every_template_of_the_kit_is_shown() -> None:
    shown = "".join(
        path.read_text(encoding="utf-8")
        for path in files(".html")
        if "templates/config/design" in path.as_posix() or path.name in {"base.html", "table.html", "figure.html"}
    )
    kit = {path.name for path in (ROOT / "templates" / "kit").glob("*.html")}
    assert sorted(name for name in kit if f'"kit/{name}"' not in shown) == []


def test_every_kind_of_cell_is_shown(page: str) -> None:
    told = {Kind(column.kind) for column in MACHINES.columns}
    assert {Kind.TEXT, Kind.CODE} >= set(Kind) - told, "text and code are words"
    for sign in ("unpriced", "—", "8</td>", "<time datetime=", "All 6", "+ 1 unpriced"):
        assert sign in page


def test_every_class_of_a_part_is_shown(page: str) -> None:
    used = {one for text in re.findall(r'class="([^"]*)"', page) for one in text.split()}
    for name in ("base", "kit"):
        css = (ROOT / "static" / "css" / f"{name}.css").read_text(encoding="utf-8")
        parts = css.partition("@layer parts {")[2].partition("\n@layer ")[0]
        defined = set(re.findall(r"^  \.([a-z][\w-]*)[ {,.]", parts, re.MULTILINE))
        assert defined, name
        assert sorted(defined - used - ELSEWHERE) == [], f"{name}.css has parts that /design/ does not show"


def test_every_icon_is_shown(page: str) -> None:
    sprite = (ROOT / "templates" / "icons.svg").read_text(encoding="utf-8")
    for name in re.findall(r'id="(i-[\w-]+)"', sprite):
        assert f'<use href="#{name}"/>' in page
