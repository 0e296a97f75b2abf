"""What one instance cost in a period, by state, from the hours that are priced."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db import connection

from billing.domain.month_spend import MONEY_STATES, MonthSpend
from common.periods import Period
from people.roles import TeamChoice


def instance_cost(instance_id: int, period: Period, choice: TeamChoice) -> dict[str, MonthSpend]:
    """Give currency -> money by state and beside compute, of whole hours that start in ``period``.

    ``choice``: only what was for these teams; a machine changes its team, and jobs of several stand on one.
    GPU time by state stands in `fleet`; here only what has no price (``unpriced_ms``) is counted.
    """
    sums = ", ".join(f"coalesce(sum({state}), 0)" for state in MONEY_STATES)
    all_states = " + ".join(MONEY_STATES)
    of_gpu, gpu_teams = choice.condition("h.team_id")
    of_side, side_teams = choice.condition("team_id")
    limits: list[Any] = [instance_id, period.start, period.end]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""WITH compute AS (
                    SELECT currency, {sums}, coalesce(sum({all_states}) FILTER (WHERE is_list_price), 0) AS listed,
                           coalesce(sum(unpriced_ms), 0) AS unpriced_ms
                    FROM billing_gpuhourcost LEFT JOIN fleet_gpuhour h USING (hour, instance_id, gpu_ref, share)
                    WHERE instance_id = %s AND hour >= %s AND hour < %s AND {of_gpu} GROUP BY currency
                ), beside AS (
                    SELECT currency, coalesce(sum(amount), 0) AS amount,
                           count(*) FILTER (WHERE amount IS NULL) AS unpriced
                    FROM billing_instancehourcost
                    WHERE instance_id = %s AND hour >= %s AND hour < %s AND {of_side} GROUP BY currency
                )
                SELECT * FROM compute FULL JOIN beside USING (currency) ORDER BY currency""",
            [*limits, *gpu_teams, *limits, *side_teams],
        )
        rows = cursor.fetchall()
    return {row[0]: _spend(row[1:]) for row in rows}


def _spend(row: Sequence[Any]) -> MonthSpend:
    """Read six states, list price, unpriced time, then what stands beside compute; a missing half is None."""
    *states, listed, unpriced_ms, beside, unpriced_disks = (value or 0 for value in row)
    money = {state: Decimal(amount) for state, amount in zip(MONEY_STATES, states, strict=True)}
    return MonthSpend(money, Decimal(beside), Decimal(listed), {}, int(unpriced_ms), int(unpriced_disks))
