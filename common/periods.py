"""Time: aware, in UTC, half-open periods; the 5-minute grid of samples; days and months of a zone.

A sample is named by its end, so the grid's marks are multiples of five minutes and a mark ``T`` stands for
``(T - 5 min, T]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from common.errors import BadInput

STEP = timedelta(minutes=5)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BEGINNING = EPOCH  # "from the beginning of time": before any GPU
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


@dataclass(frozen=True)
class Period:
    """Half-open ``[start, end)``."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise BadInput(
                "period_backwards", f"The period ends at {iso(self.end)}, before its start {iso(self.start)}."
            )


def floor_mark(moment: datetime, step: timedelta = STEP) -> datetime:
    """Give the last mark of the grid at or before ``moment``."""
    return EPOCH + (moment - EPOCH) // step * step


def marks(since: datetime, until: datetime, step: timedelta = STEP) -> Iterator[datetime]:
    """Yield the grid's marks in ``(since, until]``."""
    mark = floor_mark(since, step) + step
    while mark <= until:
        yield mark
        mark += step


def floor_hour(moment: datetime) -> datetime:
    """Give the whole UTC hour at or before ``moment``."""
    return floor_mark(moment, timedelta(hours=1))


def iso(moment: datetime) -> str:
    """Write ``YYYY-MM-DDTHH:MM:SSZ``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_moment(text: str, *, key: str = "") -> datetime:
    """Read an ISO time with a zone; a time without one is refused, since it would be guessed."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(
            "bad_time", f"{key or 'time'}: {text!r} is no time.", hint="Write 2025-06-03T11:00:00Z."
        ) from None
    if moment.tzinfo is None:
        raise BadInput(
            "bad_time", f"{key or 'time'}: {text!r} has no zone.", hint="Add Z for UTC or an offset like +02:00."
        )
    return moment.astimezone(UTC)


def parse_duration(text: str, *, key: str = "") -> timedelta:
    """Read ``90s``, ``5m``, ``1h30m``, ``7d``."""
    found = _DURATION.fullmatch(text.strip())
    if not found or not text.strip():
        raise BadInput(
            "bad_duration", f"{key or 'duration'}: {text!r} is no duration.", hint="Write 90s, 5m, 1h30m or 7d."
        )
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def day_start(day: date, zone: ZoneInfo) -> datetime:
    """Give the first instant of a local day, in UTC."""
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)


def local_day(moment: datetime, zone: ZoneInfo) -> date:
    """Give the local day that holds ``moment``."""
    return moment.astimezone(zone).date()


def month_period(text: str, zone: ZoneInfo) -> Period:
    """Read ``2025-06`` as the local month."""
    found = re.fullmatch(r"(\d{4})-(\d{2})", text.strip())
    if not found or not 1 <= int(found[2]) <= 12:
        raise BadInput("bad_month", f"{text!r} is no month.", hint="Write 2025-06.")
    year, month = int(found[1]), int(found[2])
    following = date(year + month // 12, month % 12 + 1, 1)
    return Period(day_start(date(year, month, 1), zone), day_start(following, zone))


def odd_midnights(zone: ZoneInfo, since: datetime, until: datetime) -> list[datetime]:
    """Give the local midnights in (since, until) that do not fall on a whole UTC hour."""
    day, last = local_day(since, zone), local_day(until, zone)
    found: list[datetime] = []
    while day <= last:
        at = day_start(day, zone)
        if since < at < until and (at - EPOCH) % timedelta(hours=1):
            found.append(at)
        day += timedelta(days=1)
    return found
