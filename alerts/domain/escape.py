"""Names come from outside: each medium gets them in a form that can't do anything there."""

from __future__ import annotations

import re
import unicodedata

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_INVISIBLE = frozenset("\u200b\u2060\ufeff\u00ad")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SPACES = re.compile(r"\s+")


def plain(text: str, *, limit: int = 1000) -> str:
    """Give one line without control, bidi-control and invisible characters, at most ``limit`` characters long.

    Line and paragraph separators become spaces, so no name can begin a line or a header of its own.
    """
    kept = "".join(_visible(character) for character in text)
    kept = _SPACES.sub(" ", kept).strip()
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"


def _visible(character: str) -> str:
    if character in _BIDI or character in _INVISIBLE:
        return ""
    category = unicodedata.category(character)
    if category in {"Cc", "Zl", "Zp"}:
        return " "
    return "" if category in {"Cs", "Co", "Cn"} else character


def mrkdwn(text: str, *, limit: int = 1000) -> str:
    """Escape for Slack's mrkdwn: no mention, link or channel can come from ``text``. At most ``limit`` long, escaped.

    Slack refuses a whole message for one text that is too long, so the length counts after escaping.
    """
    shown = [_ESCAPES.get(character, character) for character in plain(text, limit=limit)]
    length = sum(map(len, shown))
    if length <= limit:
        return "".join(shown)
    while length > limit - 1:
        length -= len(shown.pop())
    return "".join(shown) + "…"


def slack_plain(text: str, *, limit: int = 140) -> str:
    """Write for a Slack plain_text object, which knows no escapes: angle brackets become look-alikes."""
    return plain(text, limit=limit).replace("<", "‹").replace(">", "›")


def link_target(url: str) -> str:
    """Give ``url`` when it is an http(s) link that can stand in every medium, else nothing."""
    return url if re.fullmatch(r"https?://[^\s<>|\"'`\\\x00-\x20\x7f-\U0010ffff]+", url) else ""
