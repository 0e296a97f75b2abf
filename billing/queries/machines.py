"""Money of machines in a span of days, from the machine-days; of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from django.db import connection

from billing.domain.month_spend import MonthSpend
from billing.queries.month import COLUMNS, Days, spend_of
from people.roles import TeamChoice


def machine_spend(days: Days, choice: TeamChoice) -> dict[tuple[int, str], MonthSpend]:
    """Give (instance, currency) -> what it cost these teams in the days."""
    condition, values = choice.condition("team_id")
    sums = ", ".join(f"sum({column.removeprefix('compute_')})" for column in COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT instance_id, currency, {sums} FROM billing_machineday"
            f" WHERE day >= %s AND day < %s AND {condition} GROUP BY 1, 2",
            [days.first, days.end, *values],
        )
        return {(row[0], row[1]): spend_of(row[2:]) for row in cursor.fetchall()}


@dataclass(frozen=True)
class Wasteful:
    """Of a team's machines the one whose idle time cost most, and how many cost something idle."""

    instance_id: int
    idle: Decimal
    machines: int


def most_wasteful(
    days: Days, choice: TeamChoice, team_ids: Collection[int | None]
) -> dict[tuple[str, int | None], Wasteful]:
    """Give (currency, team) -> the machine with the largest idle cost, for these teams (None: Unassigned)."""
    condition, values = choice.condition("team_id")
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT DISTINCT ON (currency, team_id) currency, team_id, instance_id, idle,
                       count(*) OVER (PARTITION BY currency, team_id)
                FROM (SELECT currency, team_id, instance_id, sum(held + empty) AS idle
                      FROM billing_machineday
                      WHERE day >= %s AND day < %s AND (team_id = ANY(%s) OR (%s AND team_id IS NULL)) AND {condition}
                      GROUP BY 1, 2, 3) summed
                WHERE idle > 0 ORDER BY currency, team_id, idle DESC, instance_id""",
            [days.first, days.end, [one for one in team_ids if one is not None], None in team_ids, *values],
        )
        return {(row[0], row[1]): Wasteful(*row[2:]) for row in cursor.fetchall()}
