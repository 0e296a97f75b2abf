"""The SQL of spend, put together from the groupings. Names of columns come from here, values are always parameters.

Both forms give, after the groupings: currency, six states, three kinds, five times, unpriced_ms, unpriced_disk_hours,
list_price_amount. GPU-hours and their costs have one key and are joined on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from billing.domain.spend import KINDS, STATES, TIMES

_MOMENT = "(x.hour + x.part_start_minute * interval '1 minute')"
_MIDNIGHT = "(x.day::timestamp AT TIME ZONE %(zone)s)"
_CENTER = "nullif(CASE WHEN k.team_id IS NULL THEN t.cost_center ELSE k.cost_center END, '')"
_PAST_CENTERS = (
    " LEFT JOIN (SELECT team_id, cost_center, until, coalesce(lag(until) OVER (PARTITION BY team_id ORDER BY until),"
    " '-infinity') AS since FROM people_pastcostcenter) k"
    " ON k.team_id = x.team_id AND {at} >= k.since AND {at} < k.until"
)

IN_DAYS = {
    "team": "t.name",
    "cost_center": _CENTER,
    "account": "a.name",
    "provider": "nullif(a.provider, '')",
    "gpu_model": "nullif(x.gpu_model, '')",
    "day": "to_char(x.day, 'YYYY-MM-DD')",
    "month": "to_char(x.day, 'YYYY-MM')",
}
IN_HOURS = {
    "team": "t.name",
    "owner": "nullif(x.owner, '')",
    "cost_center": _CENTER,
    "account": "a.name",
    "sub_account": "nullif(v.attributes ->> 'sub_account', '')",
    "provider": "nullif(coalesce(v.attributes ->> 'provider', a.provider), '')",
    "instance": "i.external_id",
    "job": "j.external_id",
    "gpu_model": "nullif(x.gpu_model, '')",
    "sku": "nullif(v.attributes ->> 'sku', '')",
    "day": f"to_char({_MOMENT} AT TIME ZONE %(zone)s, 'YYYY-MM-DD')",
    "month": f"to_char({_MOMENT} AT TIME ZONE %(zone)s, 'YYYY-MM')",
}
_VERSIONED = {"sub_account", "provider", "sku"}

_VISIBLE = (
    "(%(all_teams)s OR x.team_id = ANY(%(teams)s) OR x.team_id IS NULL) AND (%(unassigned)s OR x.team_id IS NOT NULL)"
)
_HOURS = "hour > %(start)s - interval '1 hour' AND hour < %(end)s"
_WITHIN = (
    "x.hour > %(start)s - interval '1 hour' AND x.hour < %(end)s"
    f" AND {_MOMENT} >= %(start)s AND {_MOMENT} < %(end)s AND {_VISIBLE}"
)


def in_days(group_by: Sequence[str]) -> bool:
    """Whether team-days can tell these groupings."""
    return all(name in IN_DAYS for name in group_by)


def from_days(group_by: Sequence[str]) -> str:
    """Give the query over team-days; %(start)s and %(end)s are days."""
    sums = [
        *(f"sum(x.compute_{state})" for state in STATES),
        *(f"sum(x.{kind})" for kind in KINDS),
        *(f"sum(x.{state}_ms)" for state in TIMES),
        "sum(x.unpriced_ms)", "sum(x.unpriced_disk_hours)", "sum(x.list_price_amount)",
    ]  # fmt: skip
    keys = [IN_DAYS[name] for name in group_by]
    return (
        f"SELECT {', '.join([*keys, 'x.currency', *sums])} FROM billing_teamday x"
        " LEFT JOIN people_team t ON t.id = x.team_id LEFT JOIN fleet_account a ON a.id = x.account_id"
        f"{_PAST_CENTERS.format(at=_MIDNIGHT) if 'cost_center' in group_by else ''}"
        f" WHERE x.day >= %(start)s AND x.day < %(end)s AND {_VISIBLE} GROUP BY {_numbers(group_by)}"
    )


def from_hours(group_by: Sequence[str]) -> str:
    """Give the query over hours; %(start)s and %(end)s are times, %(zone)s cuts days and months."""
    keys = [f"{IN_HOURS[name]} AS key_{name}" for name in group_by]
    columns = [*(f"key_{name}" for name in group_by), "currency"]
    values = [*STATES, *KINDS, *(f"{state}_ms" for state in TIMES), "unpriced_ms", "bare", "listed"]
    sums = [f"coalesce(sum({value}), 0)" for value in values]
    joins = _joins(group_by)
    gpu = [
        *(f"x.{state}" for state in STATES), *("0" for _ in KINDS),
        *(f"CASE WHEN x.counts_time THEN x.{state}_ms ELSE 0 END" for state in TIMES), "x.unpriced_ms", "0",
        f"CASE WHEN x.is_list_price THEN {' + '.join(f'x.{state}' for state in STATES)} END",
    ]  # fmt: skip
    beside = [
        *(_if_kind("compute") if state == "unknown" else "0" for state in STATES),
        *(_if_kind(kind) for kind in KINDS), *("0" for _ in TIMES), "0",
        "CASE WHEN x.amount IS NULL THEN 1 ELSE 0 END", "0",
    ]  # fmt: skip
    named_gpu = [f"{expression} AS {name}" for expression, name in zip(gpu, values, strict=True)]
    return (
        f"WITH parts AS (SELECT {', '.join([*keys, 'x.currency', *named_gpu])}"
        f" FROM (SELECT * FROM (SELECT * FROM fleet_gpuhour WHERE {_HOURS}) h"
        f" JOIN (SELECT * FROM billing_gpuhourcost WHERE {_HOURS}) c USING (hour, instance_id, gpu_ref, share)) x"
        f" {joins} WHERE {_WITHIN}"
        f" UNION ALL SELECT {', '.join([*keys, 'x.currency', *beside])}"
        " FROM (SELECT *, NULL::bigint AS job_id, ''::varchar AS gpu_model FROM billing_instancehourcost) x"
        f" {joins} WHERE {_WITHIN})"
        f" SELECT {', '.join([*columns, *sums])} FROM parts GROUP BY {_numbers(group_by)}"
    )


def _if_kind(kind: str) -> str:
    return f"CASE WHEN x.kind = '{kind}' THEN x.amount ELSE 0 END"


def _numbers(group_by: Sequence[str]) -> str:
    """Group by the keys and the currency, which stands behind them."""
    return ", ".join(str(index + 1) for index in range(len(group_by) + 1))


def _joins(group_by: Sequence[str]) -> str:
    joins = []
    if {"team", "cost_center"} & set(group_by):
        joins.append("LEFT JOIN people_team t ON t.id = x.team_id")
    if "cost_center" in group_by:
        joins.append(_PAST_CENTERS.format(at=_MOMENT))
    if {"account", "provider", "instance"} & set(group_by):
        joins.append("JOIN fleet_instance i ON i.id = x.instance_id LEFT JOIN fleet_account a ON a.id = i.account_id")
    if "job" in group_by:
        joins.append("LEFT JOIN fleet_job j ON j.id = x.job_id")
    if _VERSIONED & set(group_by):
        joins.append(
            "LEFT JOIN LATERAL (SELECT attributes FROM fleet_instanceversion v WHERE v.instance_id = x.instance_id"
            " AND v.valid_from < x.hour + interval '1 hour' ORDER BY v.valid_from DESC LIMIT 1) v ON true"
        )
    return " ".join(joins)
