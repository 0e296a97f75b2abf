"""Facts about money in, translated sentences out. Nothing that is said here is ever stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from billing.domain.month_spend import MonthSpend
from common import formats
from common.words import duration
from fleet.domain.states import IDLE


@dataclass(frozen=True)
class Largest:
    """The machine whose idle time cost a team most. ``name`` "": it may not be named. ``state``: what it does now."""

    name: str
    idle: Decimal
    machines: int
    state: str
    since: datetime | None


def waste_sentence(spend: MonthSpend, currency: str, largest: Largest | None, now: datetime) -> str:
    """Say why a team's money went to idle GPUs: what they held, on how many machines, which one most."""
    held, empty = spend.of("held"), spend.of("empty")
    words = {"amount": formats.money(max(held, empty), currency)}
    if held >= empty:
        kind = _("Mostly held: %(amount)s went to GPUs whose memory was in use while nothing ran.") % words
    else:
        kind = _("Mostly empty: %(amount)s went to GPUs with nothing on them at all.") % words
    return kind if largest is None else f"{kind} {_largest(largest, currency, now)}"


def _largest(largest: Largest, currency: str, now: datetime) -> str:
    count = ngettext("One machine was idle.", "%(n)s machines were idle.", largest.machines) % {
        "n": formats.count(largest.machines)
    }
    if not largest.name:
        return count
    words = {"name": largest.name, "amount": formats.money(largest.idle, currency)}
    if largest.state in IDLE and largest.since is not None:
        words["span"] = duration(now - largest.since)
        one = _("%(name)s cost the most of it, %(amount)s, and is idle now, for %(span)s.") % words
    else:
        one = _("%(name)s cost the most of it, %(amount)s.") % words
    return f"{count} {one}"


def change_sentence(now: Decimal, before: Decimal | None, currency: str, span: str) -> str:
    """Say how spend compares with the same days of the month before; ``span`` names these days, like `1-29 Oct`."""
    if before is None:
        return _("Nothing to compare with in the month before.")
    words = {"amount": formats.money(abs(now - before), currency), "span": span}
    if before > 0:
        words["share"] = formats.percent(float(100 * abs(now - before) / before), 0)
        if now >= before:
            return _("%(share)s more than on %(span)s (+%(amount)s)") % words
        return _("%(share)s less than on %(span)s (−%(amount)s)") % words
    return _("%(amount)s more than on %(span)s") % words


def flagged_sentence(at: datetime, now: datetime, time: str) -> str:
    """Say when a quiet machine would be called idle; ``time`` is written in the reader's zone."""
    minutes = max(0, int((at - now) / timedelta(minutes=1)))
    words = {"time": time, "span": duration(timedelta(minutes=minutes))}
    return _("Quiet now. If nothing runs on it, it counts as idle at %(time)s, in %(span)s.") % words
