"""The picture of GPU-hours by state, for spans from which no samples are left and for jobs."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from django.utils.translation import gettext as _

from billing.queries.month import Days
from billing.queries.usage import Of, day_bars, hour_bars
from common.periods import Period, floor_hour, local_day
from common.pictures import Picture
from common.state_words import STATE_WORDS
from common.words import date_forms, days_text
from fleet.charts.hours import STATES, state_bars
from people.visitor import Visitor

HOURLY_UP_TO = timedelta(days=3)
HOUR = timedelta(hours=1)


def bars_of(of: Of, period: Period, visitor: Visitor, file: str) -> Picture:
    """Draw one bar per hour for a short period, else one per local day; ``file``: where the hours are a file."""
    zone = visitor.house.zone
    words = {state: str(word) for state, word in STATE_WORDS.items()}
    times: list[datetime] | list[date]
    if period.end - period.start <= HOURLY_UP_TO:
        first = floor_hour(period.start)
        times = [first + HOUR * place for place in range(-(-(period.end - first) // HOUR))]
        hours = hour_bars(of, Period(first, period.end), visitor.everything)
        figure, unit = state_bars(times, hours, words, zone, date_forms()), _("GPU-hours in each hour")
        is_empty = not hours
    else:
        first_day, last_day = local_day(period.start, zone), local_day(period.end, zone)
        times = [first_day + timedelta(days=place) for place in range((last_day - first_day).days + 1)]
        days = day_bars(of, Days(first_day, last_day + timedelta(days=1)), visitor.everything)
        figure, unit = state_bars(times, days, words, zone, date_forms()), _("GPU-hours in each day")
        is_empty = not days
    return Picture(
        id="figure-hours", title=_("GPU-hours by state"), figure=figure,
        summary=_("One bar for each time, split by what the GPUs did; grey: nothing is known"), unit=unit,
        period=days_text(local_day(period.start, zone), local_day(period.end, zone)), zone=str(zone),
        gaps=_("grey: nothing is known"), rows=file, file=file, how="money#time-of-a-gpu", legend=STATES,
        size="s", is_empty=is_empty, blank=_("No hour of this time is metered"),
    )  # fmt: skip
