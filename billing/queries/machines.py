"""Money of machines in a span of days, from the machine-days; of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.db import connection

from billing.domain.month_spend import MonthSpend
from billing.queries.month import COLUMNS, Days, spend_of
from fleet.queries.standing import instance_path
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
    """Of a team's machines the one whose idle time cost most; ``machines``: how many cost something idle.

    ``team_id``: of now; ``state`` and ``since``: of its verdict now, "" and None while nobody has judged it.
    """

    idle: Decimal
    machines: int
    account: str | None
    external_id: str
    team_id: int | None
    state: str
    since: datetime | None

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.external_id)

    def beside(self, machines: int) -> Wasteful:
        """Count the machines of a sub-team too."""
        return replace(self, machines=self.machines + machines)


def most_wasteful(
    days: Days, choice: TeamChoice, team_ids: Collection[int | None]
) -> dict[tuple[str, int | None], Wasteful]:
    """Give (currency, team) -> the machine with the largest idle cost, for these teams (None: Unassigned)."""
    condition, values = choice.condition("team_id")
    with connection.cursor() as cursor:
        cursor.execute(
            f"""WITH summed AS (
                    SELECT currency, team_id, instance_id, sum(held + empty) AS idle FROM billing_machineday
                    WHERE day >= %s AND day < %s AND (team_id = ANY(%s) OR (%s AND team_id IS NULL)) AND {condition}
                    GROUP BY 1, 2, 3
                ), most AS (
                    SELECT DISTINCT ON (currency, team_id) currency, team_id, instance_id, idle,
                           count(*) OVER (PARTITION BY currency, team_id) AS machines
                    FROM summed WHERE idle > 0 ORDER BY currency, team_id, idle DESC, instance_id
                )
                SELECT m.currency, m.team_id, m.idle, m.machines, a.name, i.external_id, i.team_id,
                       coalesce(v.state, ''), v.since
                FROM most m JOIN fleet_instance i ON i.id = m.instance_id
                LEFT JOIN fleet_account a ON a.id = i.account_id
                LEFT JOIN fleet_verdict v ON v.subject_kind = 'instance' AND v.subject_id = i.id AND v."end" IS NULL""",
            [days.first, days.end, [one for one in team_ids if one is not None], None in team_ids, *values],
        )
        return {(row[0], row[1]): Wasteful(*row[2:]) for row in cursor.fetchall()}
