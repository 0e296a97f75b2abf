"""What stands in a template: text outside translations, and what the Content-Security-Policy would refuse.

Django's own lexer splits a template. Tags become a space and variables a placeholder, so that what remains is HTML
which the standard parser reads; line numbers stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from django.template.base import Lexer, TokenType

READ_ALOUD = {"alt", "aria-label", "aria-description", "placeholder", "title", "content", "label"}
FOR_BROWSERS = {"viewport", "color-scheme", "theme-color", "htmx-config"}
# Names and units that no language changes.
SAME_EVERYWHERE = re.compile(
    r"Fleetledger|GPUs?|CSV|XLSX|JSON|UTC|API|URL|Slack|Prometheus|fleet\.yaml|make run|[kMGT]i?B|USD|&\w+;"
    r"|\bh\b|\bmin\b|\bW\b"
)
_WORD = re.compile(r"[^\W\d_]")
_UNMARKED_ARGUMENT = re.compile(r"\|\s*(?:default|default_if_none|yesno|pluralize)\s*:\s*(['\"])([^'\"]*)\1")
_VARIABLE, _TAG = "\ufffc", " "


@dataclass(frozen=True)
class Finding:
    """Something at a line that should not be there."""

    line: int
    what: str
    text: str


@dataclass
class _Reader(HTMLParser):
    findings: list[Finding] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=False)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in {"script", "style", "code"}:  # a command or a name in code is the same in every language
            self.stack.append(tag)
        if tag == "style":
            self._add("inline style", "<style>")
        if tag == "script" and not values.get("src") and values.get("type") != "application/json":
            self._add("inline script", "<script>")
        for name, value in values.items():
            self._check_attribute(tag, name, value, values)

    def _check_attribute(self, tag: str, name: str, value: str, values: dict[str, str]) -> None:
        if name == "style":
            self._add("inline style", value)
        if name.startswith(("on", "hx-on", "x-on")) or value.strip().lower().startswith(("javascript:", "js:")):
            self._add("inline script", f"{name}={value}")
        is_read = name in READ_ALOUD or (name == "value" and values.get("type") in {"submit", "button", "reset"})
        if is_read and not (tag == "meta" and values.get("name") in FOR_BROWSERS):
            self._check_text(value, name)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.stack and self.stack[-1] == tag:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        if self.stack and self.stack[-1] == tag:
            self.stack.pop()

    def handle_data(self, data: str) -> None:
        if not self.stack:
            blank = data[: len(data) - len(data.lstrip())]
            self._check_text(data, "text", lines_below=blank.count("\n"))

    def _check_text(self, text: str, where: str, lines_below: int = 0) -> None:
        if _WORD.search(SAME_EVERYWHERE.sub("", text)):
            self._add(f"unmarked {where}", " ".join(text.split()), lines_below)

    def _add(self, what: str, text: str, lines_below: int = 0) -> None:
        self.findings.append(Finding(self.getpos()[0] + lines_below, what, text))


def examine(source: str) -> list[Finding]:
    """Give what should not be in the template ``source``, in the order of its lines."""
    page, findings, skipped_until = [], [], ""
    for token in Lexer(source).tokenize():
        newlines = "\n" * token.contents.count("\n")
        if token.token_type is TokenType.TEXT:
            page.append(token.contents if not skipped_until else newlines)
        elif token.token_type is TokenType.BLOCK:
            word = token.contents.split()[0] if token.contents.split() else ""
            if word in {"blocktranslate", "blocktrans", "comment", "verbatim"}:
                skipped_until = f"end{word}"
            elif word == skipped_until:
                skipped_until = ""
            page.append(_TAG + newlines)
        elif token.token_type is TokenType.VAR:
            page.append(_VARIABLE if not skipped_until else "")
            for _, text in _UNMARKED_ARGUMENT.findall(token.contents):
                if _WORD.search(SAME_EVERYWHERE.sub("", text)):
                    findings.append(Finding(token.lineno or 0, "unmarked argument", text))
        else:
            page.append(newlines)
    reader = _Reader()
    reader.feed("".join(page))
    reader.close()
    return sorted(findings + reader.findings, key=lambda one: one.line)
