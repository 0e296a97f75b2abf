"""A month of spend from the daily totals: by team and by day, per currency, of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import Max, Min, Q, QuerySet, Sum

from billing.domain.month_spend import MONEY_STATES, TIME_STATES, MonthSpend
from billing.models import TeamDay

MS_PER_MINUTE = 60_000
BESIDE = ("storage", "network", "other")
SUMS = {
    **{f"money_{state}": Sum(f"compute_{state}") for state in MONEY_STATES},
    **{f"sum_{kind}": Sum(kind) for kind in BESIDE},
    **{f"time_{state}": Sum(f"{state}_ms") for state in TIME_STATES},
    "time_unpriced": Sum("unpriced_ms"),
}
NAMES = tuple(SUMS)


@dataclass(frozen=True)
class Days:
    """Local days [first, end)."""

    first: date
    end: date


@dataclass(frozen=True)
class TeamChoice:
    """Which rows count: ``team_ids`` None for every team; ``unassigned``: rows without a team too."""

    team_ids: frozenset[int] | None
    unassigned: bool

    def condition(self) -> Q:
        """Give the filter on ``team``."""
        if self.team_ids is None:
            return Q() if self.unassigned else Q(team__isnull=False)
        chosen = Q(team__in=self.team_ids)
        return chosen | Q(team__isnull=True) if self.unassigned else chosen


def by_team(days: Days, choice: TeamChoice) -> dict[tuple[str, int | None], MonthSpend]:
    """Give (currency, team id or None for Unassigned) -> spend."""
    rows = _rows(days, choice).values_list("currency", "team").annotate(**SUMS).values_list("currency", "team", *NAMES)
    return {(row[0], row[1]): _spend(row[2:]) for row in rows}


def by_day(days: Days, choice: TeamChoice) -> dict[tuple[str, date], MonthSpend]:
    """Give (currency, local day) -> spend; a day without any row is absent, not zero."""
    rows = _rows(days, choice).values_list("currency", "day").annotate(**SUMS).values_list("currency", "day", *NAMES)
    return {(row[0], row[1]): _spend(row[2:]) for row in rows}


def known_days(choice: TeamChoice) -> tuple[date, date] | None:
    """Give the first and the last day that has any row; None: nothing was metered yet."""
    found = TeamDay.objects.filter(choice.condition()).aggregate(first=Min("day"), last=Max("day"))
    return (found["first"], found["last"]) if found["first"] else None


def _rows(days: Days, choice: TeamChoice) -> QuerySet[TeamDay]:
    return TeamDay.objects.filter(choice.condition(), day__gte=days.first, day__lt=days.end).order_by()


def _spend(sums: Collection[Decimal | float]) -> MonthSpend:
    named = dict(zip(NAMES, sums, strict=True))
    return MonthSpend(
        {state: Decimal(named[f"money_{state}"]) for state in MONEY_STATES},
        sum((Decimal(named[f"sum_{kind}"]) for kind in BESIDE), Decimal(0)),
        {state: float(named[f"time_{state}"]) / MS_PER_MINUTE for state in TIME_STATES},
        float(named["time_unpriced"]) / MS_PER_MINUTE,
    )
