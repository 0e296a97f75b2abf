"""What the address of a money page asks for: the month and the team. All that can be chosen stands in the URL."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import Http404
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from billing.queries.month import Days, Month, known_days
from billing.sentences import change_sentence
from common.periods import local_day, month_period
from common.words import days_text
from people.roles import TeamChoice
from people.visitor import Visitor

UNASSIGNED = "-"  # no team can be called so in an address that means "without a team"


@dataclass(frozen=True)
class MonthChoice:
    """The chosen month, the months there are (newest first), and the chosen teams.

    ``team``: the filter as it stands in the address, "" for none. ``has_data``: whether anything was ever metered.
    ``files``: the page that gives the same rows as files.
    """

    month: date
    months: list[date]
    team: str
    teams: TeamChoice
    has_data: bool
    today: date
    files: str = "/teams/"

    @property
    def days(self) -> Days:
        """The days of the month."""
        return Days(self.month, next_month(self.month))

    @property
    def query(self) -> str:
        """The choice as it stands in an address."""
        return urlencode({"month": f"{self.month:%Y-%m}"} | ({"team": self.team} if self.team else {}))

    @property
    def is_running(self) -> bool:
        """Whether the month has not ended yet."""
        return self.month <= self.today < next_month(self.month)

    @property
    def last_day(self) -> date:
        """The last day that can have figures: today in a running month."""
        return min(self.days.end - timedelta(days=1), max(self.today, self.month))

    @property
    def before(self) -> Days:
        """The month before."""
        first = (self.month - timedelta(days=1)).replace(day=1)
        return Days(first, self.month)

    @property
    def period_text(self) -> str:
        """The days that can have figures, as people write them."""
        return days_text(self.month, self.last_day)

    def change(self, month: Month, currency: str) -> str:
        """Say how the month compares with the one before: whole days only, so a running day is left out of both."""
        until = self.today if self.is_running else self.days.end
        count = (until - self.month).days
        if count < 1:
            return ""
        earlier = min(self.before.first + timedelta(days=count), self.month)
        span = days_text(self.before.first, earlier - timedelta(days=1))
        return change_sentence(month.spent(currency, until), month.spent_before(currency, earlier), currency, span)

    @property
    def month_filter(self) -> dict[str, Any]:
        """The choice of the month, for `kit/filters.html`."""
        options = [(f"{one:%Y-%m}", date_format(one, "YEAR_MONTH_FORMAT")) for one in self.months]
        return {"name": "month", "label": _("Month"), "options": options, "value": f"{self.month:%Y-%m}"}

    def team_filter(self, visitor: Visitor) -> dict[str, Any]:
        """The choice of the team, for `kit/filters.html`."""
        options = [("", _("All")), *((one.name, one.name) for one in visitor.teams.values())]
        if visitor.sees_all:
            options.append((UNASSIGNED, _("Unassigned")))
        return {"name": "team", "label": _("Team"), "options": options, "value": self.team}

    def gaps(self, present: Collection[date]) -> int:
        """Count the days without any row between the first and the last that have one."""
        if not present:
            return 0
        return (max(present) - min(present)).days + 1 - len(present)


def next_month(month: date) -> date:
    """Give the first day of the month after."""
    return (month.replace(day=1) + timedelta(days=32)).replace(day=1)


def read_choice(asked: Mapping[str, str], visitor: Visitor) -> MonthChoice:
    """Read ``month`` and ``team``. Raises BadInput for no month at all, Http404 for a team that may not be seen."""
    team = asked.get("team", "").strip()
    choice = read_team(team, visitor)
    return choose_month(asked, visitor, known_days(visitor.everything), choice, team)


def choose_month(
    asked: Mapping[str, str], visitor: Visitor, known: tuple[date, date] | None, choice: TeamChoice, team: str = ""
) -> MonthChoice:
    """Read ``month`` where the first and last day with anything are ``known``: the newest month without a choice."""
    zone = visitor.house.zone
    today = local_day(visitor.now, zone)
    newest = known[1] if known else today
    month = newest.replace(day=1)
    if asked.get("month"):
        month = local_day(month_period(asked["month"], zone).start, zone)
    oldest = min(known[0].replace(day=1) if known else month, month)
    return MonthChoice(month, _months(oldest, max(newest, month)), team, choice, known is not None, today)


def read_team(team: str, visitor: Visitor) -> TeamChoice:
    """Give the rows that a team filter chooses; another's team is as unknown as one that does not exist."""
    if not team:
        return visitor.everything
    if team == UNASSIGNED and visitor.sees_all:
        return TeamChoice(frozenset(), unassigned=True)
    found = visitor.team_named(team)
    if found is None:
        raise Http404
    return TeamChoice(visitor.team_and_below(found), unassigned=False)


def _months(oldest: date, newest: date) -> list[date]:
    listed, month = [], oldest
    while month <= newest:
        listed.append(month)
        month = next_month(month)
    return listed[::-1]
