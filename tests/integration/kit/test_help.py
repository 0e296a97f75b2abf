"""The reference as pages: every page renders, every link from a figure leads to words that are there."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from config import help as reference
from config.help import help_page, known, page_names
from tests.architecture.tree import files, product_modules
from tests.support.page_data import company, person

IN_TEMPLATE = re.compile(r"""(?:{%\s*how\s+|\bhow=)["']([a-z-]+#[^"']*)["']""")
IN_PYTHON = re.compile(r"""\bhow=["']([^"']+)["']""")


def test_every_page_renders_without_what_the_policy_refuses() -> None:
    assert {"money", "verdicts", "signals", "codes", "fleet-yaml"} <= set(page_names())
    for name in page_names():
        page = help_page(name)
        assert page is not None
        assert page.title
        assert not re.search(r"""\sstyle=|<script|<img|href="[^"#/h]""", page.html), name
        anchors = re.findall(r'\sid="([^"]+)"', page.html)
        assert len(anchors) == len(set(anchors)), name


def test_links_between_pages_lead_to_anchors_that_are_there() -> None:
    broken = []
    for name in page_names():
        page = help_page(name)
        assert page is not None
        for target, anchor in re.findall(r'href="/help/([a-z-]+)/(?:#([^"]*))?"', page.html):
            if not known(f"{target}#{anchor}"):
                broken.append(f"{name}: {target}#{anchor}")
        broken += [f"{name}: #{one}" for one in re.findall(r'href="#([^"]*)"', page.html) if not page.has(one)]
    assert broken == []


def test_every_how_leads_to_words_that_are_there() -> None:
    asked = [one for path in files(".html") for one in IN_TEMPLATE.findall(path.read_text(encoding="utf-8"))]
    asked += [one for path in product_modules() for one in IN_PYTHON.findall(path.read_text(encoding="utf-8"))]
    assert asked
    assert sorted({one for one in asked if not known(one)}) == []
    assert not known("money#no-such-words")
    assert not known("no-such-page#shares")


def test_a_page_can_not_run_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "# T\n\n<script>x</script> [a](javascript:x) ![p](x.png)\n\n"
        "| n |\n|--:|\n| 1 |\n\n**Shares.** b\n\n## A & b `c`\n"
    )
    monkeypatch.setattr("pathlib.Path.read_text", lambda *_a, **_k: text)
    help_page.cache_clear()
    page = help_page("money")
    help_page.cache_clear()
    assert page is not None
    assert "<script" not in page.html
    assert "javascript" not in re.sub(r"\[a\]\(javascript:x\)", "", page.html)
    assert "<img" not in page.html
    assert '<td class="num">1</td>' in page.html
    assert page.has("shares")
    assert page.has("a--b-c")
    assert reference.slug("A & b c") == "a--b-c"


@pytest.mark.django_db
def test_pages_are_served() -> None:
    company()
    client = Client()
    client.force_login(person("ingrid@example.com", ("viewer", None)))
    index = client.get("/help/").content.decode()
    for name in page_names():
        assert f'href="/help/{name}/"' in index
    body = client.get("/help/money/").content.decode()
    assert 'id="shares"' in body
    assert client.get("/help/settings.py/").status_code == 404
