"""A month of spend from the daily totals: by team and by day, per currency, of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
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
    """``by_team`` by (currency, team id or None: Unassigned), ``by_day`` by (currency, day); empty days are absent."""

    by_team: dict[tuple[str, int | None], MonthSpend]
    by_day: dict[tuple[str, date], MonthSpend]


def month_of(days: Days, choice: TeamChoice) -> Month:
    """Sum the month both ways in one pass over its rows."""
    condition, values = choice.condition("team_id")
    sums = ", ".join(f"sum({column})" for column in COLUMNS)
    query = f"""
        SELECT grouping(day), currency, team_id, day, {sums} FROM billing_teamday
        WHERE day >= %s AND day < %s AND {condition}
        GROUP BY GROUPING SETS ((currency, team_id), (currency, day))
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [days.first, days.end, *values])
        rows = cursor.fetchall()
    by_team = {(row[1], row[2]): spend_of(row[4:]) for row in rows if row[0]}
    return Month(by_team, {(row[1], row[3]): spend_of(row[4:]) for row in rows if not row[0]})


def known_days(choice: TeamChoice) -> tuple[date, date] | None:
    """Give the first and the last day that has any row; None: nothing was metered yet."""
    condition, values = choice.condition("team_id")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT min(day), max(day) FROM billing_teamday WHERE {condition}", values)
        row = cursor.fetchone()
    return (row[0], row[1]) if row and row[0] else None


def by_month(choice: TeamChoice, first: date, end: date) -> dict[tuple[str, date], MonthSpend]:
    """Give (currency, first day of the month) -> spend of the local days [first, end)."""
    condition, values = choice.condition("team_id")
    sums = ", ".join(f"sum({column})" for column in COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT currency, date_trunc('month', day)::date, {sums} FROM billing_teamday"
            f" WHERE day >= %s AND day < %s AND {condition} GROUP BY 1, 2",
            [first, end, *values],
        )
        return {(row[0], row[1]): spend_of(row[2:]) for row in cursor.fetchall()}


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
