"""What one instance cost in a period, by state, from the hours that are priced."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import connection

from billing.domain.month_spend import MONEY_STATES, MonthSpend
from common.periods import Period


def instance_cost(instance_id: int, period: Period) -> dict[str, MonthSpend]:
    """Give currency -> money by state and beside compute, of whole hours that start in ``period``.

    GPU time by state stands in `fleet`; here only what has no price (``unpriced_ms``) is counted.
    """
    sums = ", ".join(f"coalesce(sum({state}), 0)" for state in MONEY_STATES)
    limits: list[Any] = [instance_id, period.start, period.end]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT currency, {sums}, coalesce(sum(working + low + held + empty + unknown + stopped)
                       FILTER (WHERE is_list_price), 0), coalesce(sum(unpriced_ms), 0)
                FROM billing_gpuhourcost WHERE instance_id = %s AND hour >= %s AND hour < %s GROUP BY currency""",
            limits,
        )
        compute = {row[0]: row[1:] for row in cursor.fetchall()}
        cursor.execute(
            """SELECT currency, coalesce(sum(amount), 0) FROM billing_instancehourcost
               WHERE instance_id = %s AND hour >= %s AND hour < %s GROUP BY currency""",
            limits,
        )
        beside = dict(cursor.fetchall())
    result = {}
    for currency in sorted(compute | beside):
        row = compute.get(currency)
        money = dict(zip(MONEY_STATES, row, strict=False)) if row else {}
        result[currency] = MonthSpend(
            money, Decimal(beside.get(currency, 0)), row[-2] if row else Decimal(0), {}, int(row[-1]) if row else 0
        )
    return result
