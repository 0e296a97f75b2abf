"""What a page shows to a reader: its texts, names of controls, words in its pictures; not code and not data of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

SILENT = {"script", "style", "code", "pre", "svg", "head"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
SPOKEN = ("aria-label", "title", "placeholder", "alt", "data-label", "aria-description")
PICTURED = {"text", "name", "title", "ticktext", "hovertemplate", "hovertext", "label", "customdata", "labels"}
MARKUP = re.compile(r"<[^>]*>|%\{[^}]*\}")
STRING = re.compile(r'^"((?:[^"\\]|\\.)*)"$')


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.figures: list[str] = []
        self.is_figure = False

    @property
    def is_silent(self) -> bool:
        return any(silent for _tag, silent in self.open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        other = known.get("translate") == "no" or ("lang" in known and tag != "html")
        if not other and not any(silent for name, silent in self.open if name != "svg"):
            self.texts += [value for name in SPOKEN if (value := known.get(name))]
        self.is_figure = tag == "script" and known.get("type") == "application/json"
        if tag not in VOID:
            self.open.append((tag, tag in SILENT or other))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _silent in self.open):
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self.is_figure:
            self.figures.append(data)
            self.is_figure = False
        elif not self.is_silent and data.strip():
            self.texts.append(data)

    def handle_title(self) -> None:  # pragma: no cover
        """Nothing: kept beside the others for readers."""


def shown_texts(html: str) -> list[str]:
    """Give every text of a page that a person sees or hears, in order, the words of its pictures last."""
    reader = _Reader()
    reader.feed(html)
    title = re.search(r"<title>(.*?)</title>", html, re.DOTALL)
    texts = [unescape(title[1]) if title else "", *reader.texts]
    for figure in reader.figures:
        texts += [MARKUP.sub(" ", one) for one in _pictured(json.loads(figure))]
    return [" ".join(text.split()) for text in texts if text.strip()]


def _pictured(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str) and key in PICTURED:
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _pictured(one, key)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _pictured(one, key if key == "title" else name)


def catalogue(path: Path) -> list[tuple[str, str]]:
    """Give (English, translation) of a .po file."""
    pairs, parts, current = [], {"msgid": "", "msgid_plural": "", "msgstr": ""}, ""
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if not line:
            pairs.append((parts["msgid"] + " " + parts["msgid_plural"], parts["msgstr"]))
            parts = dict.fromkeys(parts, "")
            continue
        keyword, _space, rest = line.partition(" ")
        if keyword.partition("[")[0] in parts:
            current, line = keyword.partition("[")[0], rest
        if current and (found := STRING.match(line)):
            parts[current] += json.loads(f'"{found[1]}"')
        elif not found_keyword(line):
            current = ""
    return pairs[1:]


def found_keyword(line: str) -> bool:
    """Say whether a line begins a field."""
    return line.startswith("msg")
