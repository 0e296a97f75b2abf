"""Our own scripts make no HTML from text, evaluate nothing, and hold no words: these come from templates."""

from __future__ import annotations

import re

import pytest

from tests.architecture.tree import files, show

REFUSED = re.compile(
    r"\beval\(|new Function\(|\.innerHTML\b|\.outerHTML\b|insertAdjacentHTML|document\.write\("
    r"|\.(?:textContent|innerText|title|placeholder|ariaLabel)\s*=\s*[\"'`][^\"'`]*[^\W\d_]{2}"
)


@pytest.mark.parametrize(
    "source",
    ["eval(x)", "box.innerHTML = x", "box.textContent = 'Loading'", "el.title = `Close ${x}`", "document.write(x)"],
)
def test_is_found(source: str) -> None:
    assert REFUSED.search(source)


@pytest.mark.parametrize("source", ["box.textContent = box.dataset.label", "x.textContent === 'ab'", "el.title = '–'"])
def test_is_spared(source: str) -> None:
    assert not REFUSED.search(source)


def test_all_scripts() -> None:
    found = []
    for path in files(".js"):
        text = path.read_text(encoding="utf-8")
        found += [f"{show(path, text.count(chr(10), 0, hit.start()) + 1)}: {hit[0]}" for hit in REFUSED.finditer(text)]
    assert found == []
