"""What a page shows to a reader: its texts, names of controls, words in its pictures; not code and not data of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from html import unescape
from html.parser import HTMLParser
from typing import Any

SILENT = {"script", "style", "code", "pre", "svg", "head"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
SPOKEN = ("aria-label", "title", "placeholder", "alt", "data-label", "aria-description")
PICTURED = {"text", "name", "title", "ticktext", "hovertemplate", "hovertext", "label", "customdata", "labels"}
MARKUP = re.compile(r"<[^>]*>|%\{[^}]*\}")
WORD = re.compile(r"[A-Za-z]{2,}(?:['’-][A-Za-z]+)*")
PUNCTUATION = ".,;:!?()[]“”\"'·…、，。；：（）/"
KEPT = {
    "Fleetledger", "Prometheus", "VictoriaMetrics", "Thanos", "Mimir", "Kubernetes", "Slurm", "Slack", "Webhook",
    "OpenAPI", "REST", "exporter", "Exporter", "Pod", "worker", "Bearer", "fleet.yaml",
}  # fmt: skip
NAMES = {  # in the companies of tests: teams, people, machines, sources, rules, and what people wrote themselves
    "lab", "nlp", "vision", "robotics", "nlp-eval", "prom-main", "priya", "Ingrid", "Lead", "Example", "Robotics", "My",
    "organisation", "interactive", "namespace", "paper", "deadline", "demo", "ops", "start",
}  # fmt: skip


class _Reader(HTMLParser):
    """Collects texts; what says that it is in another language (``lang``, ``translate="no"``) is left out whole."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []  # (tag, nothing in it is read)
        self.texts: list[str] = []
        self.figures: list[str] = []
        self.is_figure = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        is_other = known.get("translate") == "no" or ("lang" in known and tag != "html")
        if not is_other and not any(silent for name, silent in self.open if name != "svg"):
            self.texts += [value for name in SPOKEN if (value := known.get(name))]
        self.is_figure = tag == "script" and known.get("type") == "application/json"
        if tag not in VOID:
            self.open.append((tag, tag in SILENT or is_other))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _silent in self.open):
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self.is_figure:
            self.figures.append(data)
            self.is_figure = False
        elif data.strip() and not any(silent for _name, silent in self.open):
            self.texts.append(data)


def shown_texts(html: str) -> list[str]:
    """Give every text of a page that a person sees or hears, in order, the words of its pictures last."""
    reader = _Reader()
    reader.feed(html)
    title = re.search(r"<title>(.*?)</title>", html, re.DOTALL)
    texts = [unescape(title[1]) if title else "", *reader.texts]
    for figure in reader.figures:
        texts += [MARKUP.sub(" ", one) for one in _pictured(json.loads(figure))]
    return [" ".join(text.split()) for text in texts if text.strip()]


def _pictured(value: Any, key: str = "", *, is_layout: bool = False) -> Iterator[str]:
    """Give the texts that plotly.js draws; a name in a layout is a mark for our script and is not drawn."""
    if isinstance(value, str) and key in PICTURED and not (is_layout and key == "name"):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _pictured(one, key, is_layout=is_layout)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _pictured(one, "" if isinstance(one, dict) else name, is_layout=is_layout or name == "layout")


def english_left(text: str, names: Container[str]) -> list[str]:
    """Give the words of ``text`` that are of letters only and neither kept in every language nor names of the data."""
    words = [word.strip(PUNCTUATION) for word in MARKUP.sub(" ", text).split()]
    return [
        word for word in words if WORD.fullmatch(word) and word not in KEPT and word not in names and not word.isupper()
    ]
