"""A month of spend from the daily totals: by team and by day, per currency, of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from billing.domain.month_spend import MONEY_STATES, TIME_STATES, MonthSpend
from people.roles import TeamChoice

BESIDE = ("storage", "network", "other")
COLUMNS = (
    *(f"compute_{state}" for state in MONEY_STATES), *BESIDE, "list_price_amount", "unpriced_ms", "unpriced_disk_hours",
    *(f"{state}_ms" for state in TIME_STATES),
)  # fmt: skip


@dataclass(frozen=True)
class Days:
    """Local days [first, end)."""

    first: date
    end: date


@dataclass(frozen=True)
class Month:
    """``by_team`` by (currency, team id or None: Unassigned), ``by_day`` by (currency, day); empty days are absent.

    ``before``: the days before that were asked for too, by (currency, day).
    """

    by_team: dict[tuple[str, int | None], MonthSpend]
    by_day: dict[tuple[str, date], MonthSpend]
    before: dict[tuple[str, date], MonthSpend] = field(default_factory=dict)

    def spent(self, currency: str, until: date) -> Decimal:
        """Give the money of the days before ``until``."""
        return _spent(self.by_day, currency, until)

    def spent_before(self, currency: str, until: date) -> Decimal | None:
        """Give the money of the earlier days before ``until``; None when nothing is known of them."""
        if not any(of == currency and day < until for of, day in self.before):
            return None
        return _spent(self.before, currency, until)


def month_of(days: Days, choice: TeamChoice, before: Days | None = None) -> Month:
    """Sum the month both ways in one pass over its rows, and the days of ``before`` by day."""
    condition, values = choice.condition("team_id")
    sums = ", ".join(f"sum({column})" for column in COLUMNS)
    query = f"""
        SELECT grouping(day), day >= %s AS is_asked, currency, team_id, day, {sums} FROM billing_teamday
        WHERE day >= %s AND day < %s AND {condition}
        GROUP BY GROUPING SETS ((is_asked, currency, team_id), (is_asked, currency, day))
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [days.first, before.first if before else days.first, days.end, *values])
        rows = cursor.fetchall()
    by_team = {(row[2], row[3]): spend_of(row[5:]) for row in rows if row[0] and row[1]}
    daily = [(row[1], (row[2], row[4]), spend_of(row[5:])) for row in rows if not row[0]]
    return Month(
        by_team,
        {key: one for is_asked, key, one in daily if is_asked},
        {key: one for is_asked, key, one in daily if not is_asked},
    )


def _spent(daily: Mapping[tuple[str, date], MonthSpend], currency: str, until: date) -> Decimal:
    return sum((one.total for (of, day), one in daily.items() if of == currency and day < until), Decimal(0))


def known_days(choice: TeamChoice) -> tuple[date, date] | None:
    """Give the first and the last day that has any row; None: nothing was metered yet."""
    condition, values = choice.condition("team_id")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT min(day), max(day) FROM billing_teamday WHERE {condition}", values)
        row = cursor.fetchone()
    return (row[0], row[1]) if row and row[0] else None


@dataclass(frozen=True)
class History:
    """``months`` by (currency, first day of the month); the first and last day known; until when hours are metered."""

    months: dict[tuple[str, date], MonthSpend]
    known: tuple[date, date] | None
    metered_until: datetime | None


def history_of(choice: TeamChoice, everything: TeamChoice) -> History:
    """Give all months of ``choice``, and between which days there is anything of ``everything``."""
    condition, values = choice.condition("team_id")
    seen, seen_values = everything.condition("team_id")
    sums = ", ".join(f"sum({column})" for column in COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""WITH known AS (
                    SELECT min(day) AS first, max(day) AS last FROM billing_teamday WHERE {seen}
                ), monthly AS (
                    SELECT currency, date_trunc('month', day)::date AS month, {sums} FROM billing_teamday
                    WHERE {condition} GROUP BY 1, 2
                )
                SELECT known.first, known.last, (SELECT max(ok_at) FROM fleet_jobrun WHERE name = 'meter'), monthly.*
                FROM known LEFT JOIN monthly ON true""",
            [*seen_values, *values],
        )
        rows = cursor.fetchall()
    first, last, metered_until = rows[0][:3]
    months = {(row[3], row[4]): spend_of(row[5:]) for row in rows if row[3] is not None}
    return History(months, (first, last) if first else None, metered_until)


def spend_of(sums: Sequence[Any]) -> MonthSpend:
    """Read sums of the `COLUMNS` of a table of days."""
    named = dict(zip(COLUMNS, sums, strict=True))
    return MonthSpend(
        {state: named[f"compute_{state}"] for state in MONEY_STATES},
        sum((named[kind] for kind in BESIDE), Decimal(0)),
        named["list_price_amount"],
        {state: int(named[f"{state}_ms"]) for state in TIME_STATES},
        int(named["unpriced_ms"]),
        int(named["unpriced_disk_hours"]),
    )
