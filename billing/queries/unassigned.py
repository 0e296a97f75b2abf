"""What things without a team cost lately, and cost an hour."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from decimal import Decimal

from django.db import connection

from billing.domain.month_spend import MonthSpend
from billing.queries.month import COLUMNS, spend_of

Spent = dict[str, MonthSpend]


def unassigned_costs(since: date) -> tuple[dict[int, Spent], dict[int, Spent]]:
    """Give instance -> currency -> what it cost without a team since that day; and likewise for jobs."""
    sums = ", ".join(f"sum({column.removeprefix('compute_')})" for column in COLUMNS)
    machines: defaultdict[int, Spent] = defaultdict(dict)
    jobs: defaultdict[int, Spent] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT grouping(job_id), instance_id, job_id, currency, {sums} FROM billing_machineday"
            " WHERE team_id IS NULL AND day >= %s GROUP BY GROUPING SETS ((instance_id, currency), (job_id, currency))",
            [since],
        )
        for is_machine, instance, job, currency, *values in cursor.fetchall():
            if is_machine:
                machines[instance][currency] = spend_of(values)
            elif job is not None:
                jobs[job][currency] = spend_of(values)
    return dict(machines), dict(jobs)


def total_by_currency(spent: Spent) -> dict[str, Decimal]:
    """Give the money per currency of what has a price."""
    return {currency: one.total for currency, one in spent.items() if not one.is_unpriced}
