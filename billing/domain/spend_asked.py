"""What `spend` is asked, by a command or an address: the same names, the same errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from billing.domain.spend import BASES, CUTS, read_groupings
from common.errors import BadInput, Where
from common.periods import Period, day_start, month_period, parse_moment


@dataclass(frozen=True)
class SpendAsked:
    """A period and how it is cut."""

    period: Period
    zone: ZoneInfo
    group_by: tuple[str, ...]
    basis: str
    cut: str


def read_asked(options: Mapping[str, Any], home: str) -> SpendAsked:
    """Read month, since, until, group_by, basis, cut, time_zone; ``home``: the organisation's zone. Raises BadInput."""
    zone = read_zone(options.get("time_zone") or home)
    group_by = options.get("group_by")
    return SpendAsked(
        period=read_period(options, zone),
        zone=zone,
        group_by=read_groupings("team" if group_by is None else group_by),
        basis=_read_choice("basis", options.get("basis") or BASES[0], BASES),
        cut=_read_choice("cut", options.get("cut") or CUTS[0], CUTS),
    )


def read_zone(name: str) -> ZoneInfo:
    """Read a zone's name; raises BadInput (bad_time_zone)."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise _bad("time_zone", "bad_time_zone", f"{name!r} is no zone.", "Write Europe/Berlin.") from None


def read_period(options: Mapping[str, Any], zone: ZoneInfo) -> Period:
    """Read month, or since and until; raises BadInput (bad_period and those of the parts)."""
    month, since, until = options.get("month"), options.get("since"), options.get("until")
    if month and (since or until):
        raise _bad("month", "bad_period", "Both month and since or until are given.", "Give one of them.")
    if month:
        return month_period(month, zone)
    if not since or not until:
        raise _bad("month", "bad_period", "No period is given.", "Give month, like 2025-06, or since and until.")
    return Period(_read_bound(since, zone, "since"), _read_bound(until, zone, "until"))


def _read_bound(text: str, zone: ZoneInfo, key: str) -> datetime:
    """Read a date as the start of that day in the zone, or a whole hour."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip()):
        try:
            return day_start(date.fromisoformat(text.strip()), zone)
        except ValueError:
            raise _bad(key, "bad_time", f"{text!r} is no date.", "Write 2025-06-03.") from None
    moment = parse_moment(text, key=key)
    if (moment.minute, moment.second, moment.microsecond) != (0, 0, 0):
        raise _bad(key, "bad_time", f"{text!r} is no whole hour.", "Costs are kept by the hour.")
    return moment


def _read_choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Check an option with few values; raises BadInput (bad_choice)."""
    if value not in allowed:
        raise _bad(name, "bad_choice", f"There is no {name} {value!r}.", f"There are: {', '.join(allowed)}.")
    return value


def _bad(key: str, code: str, message: str, hint: str) -> BadInput:
    return BadInput(code, message, hint=hint, where=Where(key=key))
