"""Spend of a period by any grouping: from team-days where they answer it, else from the hours."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection, transaction

from billing.domain.spend import KINDS, STATES, TIMES, Spend, SpendRow
from billing.queries import spend_sql
from common.database import join_in_bulk
from common.periods import Period, local_day
from fleet.queries.inventory import providers_have_changed
from people.queries import cost_centers_change, organization

DAY = timedelta(days=1)


def spend(
    period: Period,
    *,
    group_by: Sequence[str] = ("team",),
    zone: ZoneInfo | None = None,
    basis: str = "effective",
    cut: str = "usage",
    team_ids: Collection[int] | None = None,
    with_unassigned: bool = True,
) -> Spend:
    """Give spend of the hours that begin in ``period``, grouped; rows sum to the totals exactly.

    ``zone`` cuts days and months (None: the organisation's). ``team_ids``: only these teams (None: all);
    ``with_unassigned``: also what has no team. Without bills the bases and cuts agree: all is provisional.
    """
    home = organization().time_zone
    name = zone.key if zone else home
    if name == home and _days_tell(group_by, period, ZoneInfo(home)):
        query, bounds = spend_sql.from_days(group_by), _days(period, ZoneInfo(home))
    else:
        query, bounds = spend_sql.from_hours(group_by), {"start": period.start, "end": period.end}
    parameters = {
        **bounds,
        "zone": name,
        "all_teams": team_ids is None,
        "teams": list(team_ids or ()),
        "unassigned": with_unassigned,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        join_in_bulk()
        cursor.execute(query, parameters)
        rows = [_row(row, group_by) for row in cursor.fetchall()]
    rows.sort(key=lambda row: [(value is None, value or "") for value in (*row.key.values(), row.currency)])
    return Spend(period, name, basis, cut, tuple(rows))


def _days_tell(group_by: Sequence[str], period: Period, zone: ZoneInfo) -> bool:
    """Whether team-days answer: whole days, and nothing that is grouped by has changed within one of them."""
    if not spend_sql.in_days(group_by) or not _is_whole_days(period.start, period.end, zone=zone):
        return False
    if "provider" in group_by and providers_have_changed():
        return False
    return "cost_center" not in group_by or _is_whole_days(*cost_centers_change(period.start, period.end), zone=zone)


def _is_whole_days(*moments: datetime, zone: ZoneInfo) -> bool:
    return all(at.astimezone(zone).time() == datetime.min.time() for at in moments)


def _days(period: Period, zone: ZoneInfo) -> dict[str, Any]:
    return {"start": local_day(period.start, zone), "end": local_day(period.end, zone)}


def _row(values: tuple[Any, ...], group_by: Sequence[str]) -> SpendRow:
    """Read a row: groupings, currency, states, kinds, times, unpriced_ms, unpriced_disk_hours, list_price_amount."""
    key = dict(zip(group_by, values, strict=False))
    rest = list(values[len(group_by) :])
    currency = rest.pop(0)
    states = {state: Decimal(rest.pop(0)) for state in STATES}
    kinds = {kind: Decimal(rest.pop(0)) for kind in KINDS}
    times = {state: int(rest.pop(0)) for state in TIMES}
    unpriced_ms, unpriced_disk_hours, listed = rest
    return SpendRow(key, currency, states, kinds, times, int(unpriced_ms), int(unpriced_disk_hours), Decimal(listed))
