"""The reference as pages of the product: docs/reference/*.md, so that "how is this computed" leads to the very words.

Anchors are those of the headings, as code forges make them, and of paragraphs that begin with a few bold words.
Raw HTML is switched off; links go to other help pages or to the outside, all else is text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

_UNSAFE = re.compile(r"[^\w\- ]")
_BESIDE = re.compile(r"([a-z][a-z0-9-]*)\.md(#.*)?")


@dataclass(frozen=True)
class Section:
    """An anchor of a page: ``level`` 2 or 3 for headings, 9 for a paragraph with a name."""

    anchor: str
    title: str
    level: int


@dataclass(frozen=True)
class HelpPage:
    """A page of the reference, rendered."""

    name: str
    title: str
    html: str
    sections: tuple[Section, ...]

    def has(self, anchor: str) -> bool:
        """Say whether the page has this anchor."""
        return not anchor or any(section.anchor == anchor for section in self.sections)


def page_names() -> list[str]:
    """Give the names of all pages."""
    return sorted(path.stem for path in (settings.BASE_DIR / "docs" / "reference").glob("*.md"))


@lru_cache(maxsize=64)
def help_page(name: str) -> HelpPage | None:
    """Render a page, once per process; None: there is none of this name."""
    if name not in page_names():
        return None
    text = (settings.BASE_DIR / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")
    reader = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable("table")
    tokens = reader.parse(text)
    title = next((tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open"), name)
    sections = _name_sections(tokens)
    _tidy(tokens)
    html = reader.renderer.render(_without_title(tokens), reader.options, {})
    return HelpPage(name, _plain(title), _scrolling(html), sections)


def where(address: str) -> str:
    """Give the path of ``page#anchor``."""
    name, _, anchor = address.partition("#")
    return f"/help/{name}/" + (f"#{anchor}" if anchor else "")


def slug(title: str) -> str:
    """Make an anchor of a title, as code forges do."""
    return _UNSAFE.sub("", title.strip().lower()).replace(" ", "-")


def _scrolling(html: str) -> str:
    """Let wide parts scroll by themselves, for the keyboard too. Tags in the text are escaped: those here are ours."""
    html = html.replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table", '<div class="scroll" role="group" tabindex="0" aria-label="Table"><table')
    return html.replace("</table>", "</table></div>")


def _plain(title: str) -> str:
    return title.replace("`", "").replace("*", "")


def _without_title(tokens: Sequence[Token]) -> list[Token]:
    """Leave out the first heading: the page's own head has it."""
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return list(tokens[3:])
    return list(tokens)


def _name_sections(tokens: Sequence[Token]) -> tuple[Section, ...]:
    """Give headings and named paragraphs their anchors; a second one of a name gets a number."""
    found: list[Section] = []
    seen: dict[str, int] = {}
    for at, token in enumerate(tokens[:-1]):
        title, level = _title_of(token, tokens[at + 1])
        if not title:
            continue
        anchor = slug(title)
        seen[anchor] = seen.get(anchor, -1) + 1
        anchor = f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
        token.attrSet("id", anchor)
        if token.tag != "h1":
            found.append(Section(anchor, title, level))
    return tuple(found)


def _title_of(token: Token, inline: Token) -> tuple[str, int]:
    if token.type == "heading_open":
        return _plain(inline.content), int(token.tag[1])
    children = inline.children or []
    # A line that begins with bold opens with an empty text.
    start = next((index for index, one in enumerate(children) if one.type != "text" or one.content), None)
    if token.type != "paragraph_open" or start is None or children[start].type != "strong_open":
        return "", 0
    words: list[str] = []
    for one in children[start + 1 :]:
        if one.type == "strong_close":
            break
        words.append(one.content)
    return "".join(words).rstrip(".:"), 9


def _tidy(tokens: Sequence[Token]) -> None:
    """Turn what the page's policy refuses into classes, and links into pages of ours."""
    for token in tokens:
        if token.type in {"th_open", "td_open"}:
            if "right" in str(token.attrs.pop("style", "")):
                token.attrSet("class", "num")
            if token.type == "th_open":
                token.attrSet("scope", "col")
        elif token.type == "table_open":
            token.attrSet("class", "table")
        elif token.type == "fence":
            token.info = ""
        for child in token.children or ():
            if child.type == "link_open":
                _aim(child)
            if child.type == "image":  # pictures stay with the repository
                child.type, child.tag = "text", ""


def _aim(link: Token) -> None:
    target = str(link.attrGet("href") or "")
    beside = _BESIDE.fullmatch(target)
    if beside and beside[1] in page_names():
        link.attrSet("href", where(beside[1] + (beside[2] or "")))
    elif target.startswith("#"):
        return
    elif target.startswith(("https://", "http://")):
        link.attrSet("rel", "noreferrer")
    else:
        link.attrs.pop("href", None)


def known(address: str) -> bool:
    """Say whether ``page#anchor`` leads somewhere."""
    name, _, anchor = address.partition("#")
    page = help_page(name)
    return page is not None and page.has(anchor)
