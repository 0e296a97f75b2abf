"""What stands in a cell of a table: its kinds, values that need more than a number or a text, and how they are ordered.

A missing value is None: an em dash on the page ("unpriced" for money), an empty cell in a file, last in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from common.state_words import STATE_WORDS


class Kind(StrEnum):
    """What a column holds; in brackets the value that a row gives.

    TEXT (str), CODE (str), NUMBER (int, float, Decimal), HOURS (hours as a number), PERCENT (0 to 100), MONEY and
    PER_HOUR (Decimal, or `Money` where rows differ in currency), SPAN (timedelta), MOMENT (aware datetime), STATE
    (of common/state_words.py), LINK (`Link`), BADGE (`Badge`), MIX (mapping of state -> number, drawn as a bar).
    """

    TEXT = "text"
    CODE = "code"
    NUMBER = "number"
    HOURS = "hours"
    PERCENT = "percent"
    MONEY = "money"
    PER_HOUR = "per_hour"
    SPAN = "span"
    MOMENT = "moment"
    STATE = "state"
    LINK = "link"
    BADGE = "badge"
    MIX = "mix"


AMOUNTS = frozenset({Kind.MONEY, Kind.PER_HOUR})
RIGHT = frozenset({Kind.NUMBER, Kind.HOURS, Kind.PERCENT, Kind.MONEY, Kind.PER_HOUR, Kind.SPAN})
WORDS = frozenset({Kind.TEXT, Kind.CODE, Kind.STATE, Kind.LINK, Kind.BADGE})
_STATES = {name: place for place, name in enumerate(STATE_WORDS)}


@dataclass(frozen=True)
class Money:
    """An amount in a currency; ``amount`` None: unpriced. ``note``: a word under it ("list price")."""

    amount: Decimal | None
    currency: str
    note: str = ""


@dataclass(frozen=True)
class Link:
    """A text that leads somewhere (``href`` "": nowhere); ``note`` stands under it, ``flag`` wants an eye."""

    text: str
    href: str = ""
    note: str = ""
    flag: bool = False


@dataclass(frozen=True)
class Badge:
    """A result: icon and word. ``tone``: "", good, warn or bad. ``key``: what the machine form of a file says."""

    text: Any
    tone: str = ""
    icon: str = ""
    key: str = ""


def value_of(row: Any, key: str) -> Any:
    """Give what ``row`` (a mapping or an object) has under ``key``; None where it has nothing."""
    return row.get(key) if isinstance(row, Mapping) else getattr(row, key, None)


def money_of(value: Any, currency: str) -> Money:
    """Give an amount as `Money`; a bare number is of ``currency``."""
    return value if isinstance(value, Money) else Money(None if value is None else Decimal(value), currency)


def words_of(kind: Kind, value: Any) -> str:
    """Give the text of a cell as a reader would search for it; "" for what is no text."""
    if value is None or kind not in WORDS:
        return ""
    if isinstance(value, Link):
        return f"{value.text} {value.note}"
    if isinstance(value, Badge):
        return str(value.text)
    return str(STATE_WORDS.get(value, value)) if kind is Kind.STATE else str(value)


def order_of(kind: Kind, value: Any) -> Any:
    """Give what a cell is ordered by, None for what goes last. Different currencies stand apart."""
    if isinstance(value, Money):
        return None if value.amount is None else (value.currency, value.amount)
    if value is None:
        return None
    if kind is Kind.STATE:
        return _STATES.get(value, len(_STATES))
    if kind is Kind.MIX:
        return sum(float(part) for part in value.values())
    if kind in WORDS:
        return words_of(kind, value).casefold()
    return value.total_seconds() if isinstance(value, timedelta) else value
