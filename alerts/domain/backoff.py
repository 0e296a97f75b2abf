"""When to try again, and when to give up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LIFE = timedelta(hours=24)
"""After this long a delivery is dead and its fallback is told."""

WAITS = tuple(timedelta(seconds=seconds) for seconds in (30, 60, 120, 300, 900, 1800))
"""The wait after the first, second ... failed try; the last one repeats."""

LONGEST_PROBE = timedelta(minutes=15)
"""A channel that keeps failing is tried at least this often."""

TELL_AFTER = timedelta(hours=1)
"""A channel that failed for this long is told of over the others."""

LONGEST_PAUSE = LIFE
"""However long the other side asks us to wait: after this the delivery is dead anyway."""


def wait_after(tries: int) -> timedelta:
    """Give the wait after the ``tries``-th failed try (from 1)."""
    return WAITS[min(max(tries, 1), len(WAITS)) - 1]


def pause_of_channel(*, failing_since: datetime | None, now: datetime, retry_after: float | None) -> timedelta:
    """Give how long a failing channel is left alone: as it asked, else longer the longer it fails."""
    if retry_after is not None:
        return min(max(timedelta(seconds=retry_after), timedelta(seconds=1)), LONGEST_PAUSE)
    failed_for = now - failing_since if failing_since else timedelta(0)
    return min(max(WAITS[0], failed_for / 2), LONGEST_PROBE)


def next_try(*, tries: int, first_due: datetime, now: datetime, retry_after: float | None = None) -> datetime | None:
    """Give the time of the next try, never sooner than asked (``retry_after``, seconds); None: its life is over."""
    wait = wait_after(tries) if retry_after is None else max(timedelta(seconds=retry_after), timedelta(seconds=1))
    due = now + min(wait, LONGEST_PAUSE)
    return due if due < first_due + LIFE else None


def read_retry_after(text: str | None, *, now: datetime) -> float | None:
    """Read a Retry-After header, seconds or an HTTP date, as seconds from ``now``; None when absent or no sense."""
    if not text:
        return None
    text = text.strip()
    try:
        return min(max(float(text), 0.0), LONGEST_PAUSE.total_seconds()) if text[0].isdigit() else _until(text, now)
    except (ValueError, TypeError, OverflowError):
        return None


def _until(text: str, now: datetime) -> float | None:
    moment = parsedate_to_datetime(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), LONGEST_PAUSE.total_seconds())
