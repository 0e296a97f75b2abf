"""Types of scalars: how a text becomes a value, and what is said when it does not.

Values are JSON: decimals as plain text (exact), moments as ISO text in UTC, durations as ``1h30m``, percents as
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from common.currencies import CURRENCIES
from common.errors import BadInput
from common.periods import day_start, iso, parse_duration, parse_moment
from config.declared.nearest import did_you_mean

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
_YES, _NO = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})
MAX_NAME = 120


@dataclass(frozen=True)
class Reading:
    """What typing needs to know beside the text: the organisation's zone, in which dates begin."""

    zone: ZoneInfo


@dataclass(frozen=True)
class Scalar:
    """A type: ``name`` as the reference prints it; ``read`` raises BadInput without a place."""

    name: str
    read: Callable[[str, Reading], Any]


def text(longest: int = 2000, name: str = "text") -> Scalar:
    """Any text that is not blank."""

    def read(value: str, _: Reading) -> str:
        if not value.strip():
            raise BadInput("blank", "There is nothing here.", hint="Write a value, or leave the key out.")
        if len(value) > longest:
            raise BadInput("text_too_long", f"This is longer than {longest} characters.", hint="Shorten it.")
        return value.strip()

    return Scalar(name, read)


def without_slash() -> Scalar:
    """A name that may stand before a slash, as in ``account/id``."""

    def read(value: str, reading: Reading) -> str:
        found: str = NAME.read(value, reading)
        if "/" in found:
            raise BadInput(
                "bad_name", f"{found!r} holds a slash.", hint="A slash parts account and id; write another sign."
            )
        return found

    return Scalar("name without /", read)


def whole(least: int, most: int = 10**9, name: str = "whole number") -> Scalar:
    """A whole number within bounds."""

    def read(value: str, _: Reading) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,12}", value):
            raise BadInput(
                "bad_number", f"{value!r} is no whole number.", hint=_number_hint(value, "Write digits only, like 8.")
            )
        number = int(value)
        if not least <= number <= most:
            bound = f"at least {least}" if number < least else f"at most {most}"
            raise BadInput("out_of_bounds", f"{number} is out of bounds.", hint=f"Write {bound}.")
        return number

    return Scalar(name, read)


def decimal(*, positive: bool = False, most: int | None = None, places: int = 18) -> Scalar:
    """An exact decimal that is not negative (``positive``: and not zero); JSON text as written."""
    name = "decimal" if most is None else f"decimal up to {most}"

    def read(value: str, _: Reading) -> str:
        number = _decimal(value)
        if number < 0 or (positive and number == 0):
            raise BadInput(
                "out_of_bounds",
                f"{value} is out of bounds.",
                hint=f"Write a number {'above' if positive else 'from'} 0.",
            )
        if (most is not None and number > most) or -int(number.as_tuple().exponent) > places:
            raise BadInput(
                "out_of_bounds",
                f"{value} is out of bounds.",
                hint=f"Write at most {most or 10**18}, with {places} decimals.",
            )
        return f"{number:f}"

    return Scalar(f"{name} above 0" if positive else name, read)


def percent(*, positive: bool = False, most: int | None = 100) -> Scalar:
    """A percent without its sign; 5 stays 5, 2.5 becomes 2.5."""

    def read(value: str, _: Reading) -> int | float:
        if value.endswith("%"):
            raise BadInput(
                "bad_number", f"{value!r} has a unit.", hint=f"The key says percent: write {value[:-1].strip()}."
            )
        number = _decimal(value)
        if number < 0 or (positive and number == 0) or (most is not None and number > most):
            high = f" to {most}" if most is not None else ""
            raise BadInput(
                "out_of_bounds", f"{value} is no percent here.", hint=f"Write {'above 0' if positive else '0'}{high}."
            )
        return int(number) if number == number.to_integral_value() else float(number)

    return Scalar("percent", read)


def duration(least: str = "0s", most: str = "3660d") -> Scalar:
    """A duration within bounds, with its units."""
    low, high = parse_duration(least), parse_duration(most)

    def read(value: str, _: Reading) -> str:
        try:
            span = parse_duration(value)
        except (BadInput, OverflowError):
            message = f"{value!r} is no duration."
            if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
                raise BadInput("bad_duration", f"{value!r} has no unit.", hint=f"Write {value}m or {value}s.") from None
            raise BadInput("bad_duration", message, hint="Write 90s, 5m, 1h30m or 7d.") from None
        if not low <= span <= high:
            raise BadInput("out_of_bounds", f"{value} is out of bounds.", hint=f"Write {least} to {most}.")
        return plain_duration(span)

    return Scalar("duration" if (least, most) == ("0s", "3660d") else f"duration, {least} to {most}", read)


def plain_duration(span: timedelta) -> str:
    """Write a duration in its shortest form: 90m is ``1h30m``, nothing is ``0m``."""
    seconds = int(span.total_seconds())
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0m"


def choice(*words: str) -> Scalar:
    """One of a few words."""

    def read(value: str, _: Reading) -> str:
        if value not in words:
            hint = did_you_mean(value, words) or "Write one of them."
            raise BadInput("bad_choice", f"{value!r} is not one of {', '.join(words)}.", hint=hint)
        return value

    return Scalar(" \\| ".join(words), read)


def _boolean(value: str, _: Reading) -> bool:
    if value.casefold() in _YES | _NO:
        return value.casefold() in _YES
    raise BadInput("bad_boolean", f"{value!r} is neither true nor false.", hint="Write true or false.")


def _moment(value: str, reading: Reading) -> str:
    if _DAY.fullmatch(value):
        return iso(day_start(_day(value), reading.zone))
    if not _DAY.match(value):
        raise BadInput("bad_time", f"{value!r} is no time.", hint="Write 2025-06-03T11:00:00Z or 2025-06-03.")
    try:
        moment = parse_moment(value)
    except OverflowError:
        moment = None
    if moment is None or not 1970 <= moment.year <= 2999:
        raise BadInput("bad_time", f"{value!r} is no time.", hint="Write 2025-06-03T11:00:00Z or 2025-06-03.")
    return iso(moment)


def _calendar_day(value: str, _: Reading) -> str:
    if not _DAY.fullmatch(value):
        raise BadInput("bad_date", f"{value!r} is no date.", hint="Write 2025-12-25.")
    return _day(value).isoformat()


def _day(value: str) -> date:
    try:
        found = date.fromisoformat(value)
    except ValueError:
        raise BadInput(
            "bad_date", f"{value!r} is no day of the calendar.", hint="Write a date like 2025-12-25."
        ) from None
    if not 1970 <= found.year <= 2999:
        raise BadInput("bad_date", f"{value!r} is out of bounds.", hint="Write a year from 1970 on.")
    return found


def _clock(value: str, _: Reading) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00", value):
        raise BadInput("bad_clock", f"{value!r} is no time of day.", hint='Write "08:00".')
    return value


def _currency(value: str, _: Reading) -> str:
    if value not in CURRENCIES:
        hint = did_you_mean(value.upper(), CURRENCIES) or "Write an ISO 4217 code like USD."
        raise BadInput("bad_currency", f"{value!r} is no currency.", hint=hint)
    return value


def _time_zone(value: str, _: Reading) -> str:
    if value not in _zones():
        hint = did_you_mean(value, _zones()) or "Write a name like Europe/Berlin."
        raise BadInput("bad_time_zone", f"{value!r} is no time zone.", hint=hint)
    return value


@cache
def _zones() -> frozenset[str]:
    """Give the names of all time zones (they stand in files)."""
    return frozenset(available_timezones())


def _email(value: str, _: Reading) -> str:
    if len(value) > 254 or not re.fullmatch(
        r"[^@\s,;<>\"]+@[^@\s,;<>\"]+\.[^@\s.,;<>\"]+|[^@\s,;<>\"]+@localhost", value
    ):
        raise BadInput("bad_email", f"{value!r} is no e-mail address.", hint="Write name@example.com.")
    return value.lower()


def _decimal(value: str) -> Decimal:
    if not _DECIMAL.fullmatch(value):
        raise BadInput(
            "bad_number", f"{value!r} is no number.", hint=_number_hint(value, "Write digits with a decimal point.")
        )
    return Decimal(value)


def _number_hint(value: str, usual: str) -> str:
    """Say what is wrong with a number that carries a power of ten, a unit, a sign or a comma."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]{1,2}", value):
        return f"Write it out: {Decimal(value):f}."
    bare = re.sub(r"[^0-9.\-]", "", value)
    if value.count(bare) == 1 and re.search(r"[A-Za-z$€£¥%]", value) and _DECIMAL.fullmatch(bare):
        return f"The unit stands in the key: write {bare}."
    if "," in value:
        return "Write a decimal point and no separators, like 1234.50."
    return usual


NAME = text(MAX_NAME, "name")
TEXT = text()
BOOLEAN = Scalar("true \\| false", _boolean)
MOMENT = Scalar("time or date", _moment)
DAY = Scalar("date", _calendar_day)
CLOCK = Scalar("time of day", _clock)
CURRENCY = Scalar("currency", _currency)
TIME_ZONE = Scalar("time zone", _time_zone)
EMAIL = Scalar("e-mail", _email)
