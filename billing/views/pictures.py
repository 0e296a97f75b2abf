"""Figures of money with all that a page must say about them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from billing import charts
from billing.domain.month_spend import MONEY_STATES, MonthSpend
from billing.filters import MonthChoice, next_month
from common.formats import count
from common.pictures import Picture
from common.state_words import STATE_WORDS

MONTHS_SHOWN = 13
HOW = "money#provisional-cost"


def days_picture(
    daily: Mapping[date, MonthSpend],
    currency: str,
    *,
    choice: MonthChoice,
    zone: str,
    until: datetime | None,
    rows: str,
) -> Picture:
    """Draw the money of each day by state."""
    return Picture(
        id=f"days-{currency}", title=_("Spend by day"), rows=rows, file=_file(choice, "days"), how=HOW, size="s",
        figure=charts.daily_spend(_days(choice), daily, currency, _words()), unit=currency,
        summary=_("One bar per day, split by GPU state"), period=choice.period_text, zone=zone, until=until,
        cut=_("usage cut, effective"), gaps=_gaps(choice, daily), legend=_states(daily), is_empty=not daily,
        blank=_("Nothing was metered in these days"),
    )  # fmt: skip


def use_picture(
    daily: Mapping[date, MonthSpend],
    currency: str,
    *,
    choice: MonthChoice,
    zone: str,
    until: datetime | None,
    rows: str,
) -> Picture:
    """Draw what the GPU-hours of each day were used for."""
    return Picture(
        id=f"use-{currency}", title=_("Use of what was paid"), rows=rows, file=_file(choice, "days"),
        how="money#time-of-a-gpu", size="s", figure=charts.daily_use(_days(choice), daily, _words()),
        unit=_("percent of GPU-hours"), summary=_("One bar per day: the share of GPU-hours in each state"),
        period=choice.period_text, zone=zone, until=until, is_empty=not any(one.all_hours for one in daily.values()),
        blank=_("No GPU-hour was metered in these days"),
    )  # fmt: skip


def months_picture(
    months: Mapping[date, MonthSpend],
    currency: str,
    *,
    choice: MonthChoice,
    zone: str,
    until: datetime | None,
    rows: str,
) -> Picture:
    """Draw the money of the months up to the newest, by state."""
    newest = max(months, default=choice.month)
    shown = [newest]
    while len(shown) < MONTHS_SHOWN and shown[-1] > min(months, default=newest):
        shown.append((shown[-1] - timedelta(days=1)).replace(day=1))
    shown.reverse()
    labels = [date_format(one, "SHORT_MONTH_FORMAT" if len(shown) > 8 else "PICTURE_MONTH_FORMAT") for one in shown]
    spend = {month: one for month, one in months.items() if month in shown}
    period = f"{date_format(shown[0], 'YEAR_MONTH_FORMAT')} – {date_format(newest, 'YEAR_MONTH_FORMAT')}"
    return Picture(
        id=f"months-{currency}", title=_("Spend by month"), rows=rows, file=_file(choice, "months"), how=HOW,
        size="s", figure=charts.monthly_spend(shown, spend, currency, _words(), labels), unit=currency,
        zone=zone, until=until, summary=_("One bar per month, split by GPU state"), period=period,
        cut=_("usage cut, effective"), gaps=_("the newest month goes on") if choice.today < next_month(newest) else "",
        is_empty=not months, blank=_("Nothing was metered yet"),
    )  # fmt: skip


def _file(choice: MonthChoice, of: str) -> str:
    """Give the address of the same figures as a file: the page's own, or that of all teams."""
    return f"{choice.files}?{choice.query}&of={of}&as=csv"


def _words() -> dict[str, str]:
    return {key: str(word) for key, word in STATE_WORDS.items()}


def _days(choice: MonthChoice) -> list[date]:
    return [choice.days.first + timedelta(days=index) for index in range((choice.days.end - choice.days.first).days)]


def _gaps(choice: MonthChoice, daily: Mapping[date, MonthSpend]) -> str:
    gaps = choice.gaps(daily)
    words = ngettext("1 day without any data", "%(n)s days without any data", gaps) % {"n": count(gaps)}
    return words if gaps else ""


def _states(daily: Mapping[date, MonthSpend]) -> tuple[str, ...]:
    found = [state for state in MONEY_STATES if any(one.of(state) for one in daily.values())]
    return (*found, "beside") if any(one.beside for one in daily.values()) else tuple(found)
