"""Write costs: amounts split over GPUs, shares and states on arrays.

What is equal stays untouched, what no longer applies goes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from billing.domain.hour_cost import split_groups
from billing.domain.instance_hour import HourMoney
from billing.queries.storage import Storage
from common.partitions import make_months
from common.periods import EPOCH
from common.records import drop, stage, timestamps
from fleet.queries.gpu_hours import MEASURED, staged_rows
from people.queries import organization

Key = tuple[int, datetime]
"""(instance, hour)."""

STATES = tuple(name.removesuffix("_ms") for name in MEASURED)
RUNNING = len(STATES) - 1  # the first five states are running time, the last is stopped
VALUES = ("counts_time", "is_list_price", "unpriced_ms", *STATES)
AMOUNT = "CASE WHEN s.is_priced THEN s.{0} * 0.000000001 END"

WRITE_GPU = """
WITH removed AS (
    DELETE FROM billing_gpuhourcost t USING priced_keys k
     WHERE t.hour = k.hour AND t.instance_id = k.instance_id AND NOT EXISTS (
        SELECT 1 FROM priced_rows s JOIN unnest(%(currencies)s::text[]) WITH ORDINALITY c(code, number)
            ON c.number = s.currency
         WHERE s.hour = t.hour AND s.instance_id = t.instance_id AND s.gpu_ref = t.gpu_ref AND s.share = t.share
           AND c.code = t.currency)
    RETURNING 1
), written AS (
    INSERT INTO billing_gpuhourcost AS t (hour, instance_id, gpu_ref, share, currency, {values})
    SELECT s.hour, s.instance_id, s.gpu_ref, s.share, c.code, s.counts_time, s.is_list_price, s.unpriced_ms, {amounts}
      FROM priced_rows s JOIN unnest(%(currencies)s::text[]) WITH ORDINALITY c(code, number) ON c.number = s.currency
    ON CONFLICT (hour, instance_id, gpu_ref, share, currency) DO UPDATE SET {updates}
     WHERE ({old}) IS DISTINCT FROM ({new})
    RETURNING 1
)
SELECT (SELECT count(*) FROM written) + (SELECT count(*) FROM removed)
""".format(
    values=", ".join(VALUES),
    amounts=", ".join(AMOUNT.format(state) for state in STATES),
    updates=", ".join(f"{name} = excluded.{name}" for name in VALUES),
    old=", ".join(f"t.{name}" for name in VALUES),
    new=", ".join(f"excluded.{name}" for name in VALUES),
)

WRITE_INSTANCE = """
WITH keys AS (SELECT * FROM unnest(%(instances)s::bigint[], %(hours)s::timestamptz[]) k(instance_id, hour)
), fresh AS (
    SELECT * FROM unnest(%(i)s::bigint[], %(h)s::timestamptz[], %(kind)s::text[], %(share)s::smallint[],
        %(part)s::smallint[], %(team)s::bigint[], %(owner)s::text[], %(currency)s::text[], %(units)s::bigint[])
        f(instance_id, hour, kind, share, part_start_minute, team_id, owner, currency, units)
), removed AS (
    DELETE FROM billing_instancehourcost t USING keys k
     WHERE t.hour = k.hour AND t.instance_id = k.instance_id AND NOT EXISTS (
        SELECT 1 FROM fresh s WHERE s.hour = t.hour AND s.instance_id = t.instance_id AND s.kind = t.kind
           AND s.share = t.share AND s.currency = t.currency)
    RETURNING 1
), written AS (
    INSERT INTO billing_instancehourcost AS t
        (hour, instance_id, kind, share, part_start_minute, team_id, owner, currency, amount)
    SELECT hour, instance_id, kind, share, part_start_minute, team_id, owner, currency, units * 0.000000001 FROM fresh
    ON CONFLICT (hour, instance_id, kind, share, currency) DO UPDATE
       SET part_start_minute = excluded.part_start_minute, team_id = excluded.team_id, owner = excluded.owner,
           amount = excluded.amount
     WHERE (t.part_start_minute, t.team_id, t.owner, t.amount) IS DISTINCT FROM
           (excluded.part_start_minute, excluded.team_id, excluded.owner, excluded.amount)
    RETURNING 1
)
SELECT (SELECT count(*) FROM written) + (SELECT count(*) FROM removed)
"""


@dataclass(frozen=True)
class _Allocations:
    """The money of instance-hours, one per currency; arrays [K]. ``key`` numbers the instance-hour."""

    key: NDArray[np.int64]
    currency: NDArray[np.int64]  # number, from 1
    running: NDArray[np.int64]  # units
    stopped: NDArray[np.int64]
    unpriced_ms: NDArray[np.int64]  # of the instance's running time
    running_ms: NDArray[np.int64]
    is_list_price: NDArray[np.bool_]
    counts_time: NDArray[np.bool_]


def write_gpu_costs(moneys: Mapping[Key, HourMoney]) -> tuple[int, set[Key]]:
    """Make the costs of GPU time of these instance-hours be ``moneys``.

    Gives how many rows changed, and the keys that cost something but have no GPU time to bear it.
    """
    keys = sorted(moneys, key=lambda key: (key[1], key[0]))
    instances = np.array([instance for instance, _ in keys], dtype=np.int64)
    hours = timestamps(np.array([(hour - EPOCH) // timedelta(milliseconds=1) for _, hour in keys], dtype=np.int64))
    make_months("billing_gpuhourcost", {hour for _, hour in keys})
    stage("priced_keys", {"instance_id": instances, "hour": hours}, times=("hour",))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE priced_keys")
    rows = staged_rows("priced_keys")
    times = np.stack([rows[name] for name in MEASURED], axis=1) if len(rows) else np.zeros((0, 6), dtype=np.int64)
    row_key = _find(hours, instances, rows)
    currencies, found = _allocations([moneys[key] for key in keys])
    written = _write(rows, times, row_key, currencies, found)
    drop("priced_keys")
    has_time = np.zeros((len(keys), 2), dtype=np.bool_)
    np.logical_or.at(has_time[:, 0], row_key, times[:, :RUNNING].sum(axis=1) > 0)
    np.logical_or.at(has_time[:, 1], row_key, times[:, RUNNING] > 0)
    bare = {keys[key] for key in found.key[(found.running != 0) & ~has_time[found.key, 0]].tolist()}
    return written, bare


def _find(hours: NDArray[np.int64], instances: NDArray[np.int64], rows: NDArray[np.void]) -> NDArray[np.int64]:
    """Give the number of the key of each row; keys and rows are both in order of hour and instance."""
    starts = (
        np.flatnonzero(
            np.r_[
                True,
                (rows["hour_us"][1:] != rows["hour_us"][:-1]) | (rows["instance_id"][1:] != rows["instance_id"][:-1]),
            ]
        )
        if len(rows)
        else np.zeros(0, dtype=np.int64)
    )
    numbers = {pair: number for number, pair in enumerate(zip(hours.tolist(), instances.tolist(), strict=True))}
    pairs = zip(rows["hour_us"][starts].tolist(), rows["instance_id"][starts].tolist(), strict=True)
    first = np.array([numbers[pair] for pair in pairs], dtype=np.int64)
    return np.repeat(first, np.diff(np.r_[starts, len(rows)]))


def _allocations(moneys: Sequence[HourMoney]) -> tuple[list[str], _Allocations]:
    """Lay the amounts out as arrays. What is unpriced altogether stands in the organisation's currency."""
    home = organization().currency
    numbers: dict[str, int] = {}
    table: list[tuple[int, ...]] = []
    for key, money in enumerate(moneys):
        for index, amount in enumerate(money.amounts):
            number = numbers.setdefault(amount.currency, len(numbers) + 1)
            unpriced = money.unpriced_ms if index == 0 else 0
            flags = (int(amount.is_list_price), int(index == 0))
            table.append((key, number, amount.running, amount.stopped, unpriced, money.running_ms, *flags))
        if not money.amounts:
            number = numbers.setdefault(home, len(numbers) + 1)
            table.append((key, number, 0, 0, money.unpriced_ms, money.running_ms, 0, 1))
    columns = np.array(table, dtype=np.int64).reshape(-1, 8).T
    return list(numbers), _Allocations(*columns[:6], *columns[6:].astype(np.bool_))


def _write(
    rows: NDArray[np.void],
    times: NDArray[np.int64],
    row_key: NDArray[np.int64],
    currencies: Sequence[str],
    found: _Allocations,
) -> int:
    """Split the amounts over the rows of their instance-hour and write them."""
    first = np.searchsorted(row_key, found.key, side="left")
    counts = np.searchsorted(row_key, found.key, side="right") - first
    row = (
        np.repeat(first - np.r_[0, np.cumsum(counts)[:-1]], counts) + np.arange(counts.sum())
        if counts.sum()
        else first[:0]
    )
    group = np.repeat(np.arange(len(counts)), counts)
    spent = times[row]
    running = split_groups(found.running, np.repeat(group, RUNNING), spent[:, :RUNNING].ravel()).reshape(-1, RUNNING)
    stopped = split_groups(found.stopped, group, spent[:, RUNNING])
    own = spent[:, :RUNNING].sum(axis=1)
    unpriced = np.where(
        found.running_ms[group] > 0, own * found.unpriced_ms[group] // np.maximum(found.running_ms[group], 1), 0
    )
    columns: dict[str, NDArray[Any]] = {
        "hour": rows["hour_us"][row],
        "instance_id": rows["instance_id"][row],
        "gpu_ref": rows["gpu_ref"][row],
        "share": rows["share"][row],
        "currency": found.currency[group],
        "counts_time": found.counts_time[group],
        "is_list_price": found.is_list_price[group],
        "is_priced": ~((own > 0) & (unpriced >= own)),
        "unpriced_ms": unpriced,
        "stopped": stopped,
    } | {state: running[:, index] for index, state in enumerate(STATES[:RUNNING])}
    stage("priced_rows", columns, times=("hour",))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE priced_rows")
        cursor.execute(WRITE_GPU, {"currencies": list(currencies)})
        written = (cursor.fetchone() or (0,))[0]
    drop("priced_rows")
    return int(written)


def write_instance_costs(keys: Collection[Key], storage: Storage, bare: Mapping[Key, HourMoney]) -> int:
    """Make the costs beside GPU time be those of disks and of instances without GPUs (``bare``).

    Gives how many rows changed.
    """
    table: list[tuple[Any, ...]] = []
    for instance, hour in keys:
        table += [
            (
                cost.instance_id,
                hour,
                "storage",
                cost.share,
                cost.part_start_minute,
                cost.team_id,
                cost.owner,
                cost.currency,
                cost.units,
            )
            for cost in storage.costs(instance, hour)
        ]
    for (instance, hour), money in bare.items():
        team, owner = storage.owner_at(instance, hour)
        table += [
            (instance, hour, "compute", number, 0, team, owner, amount.currency, amount.running)
            for number, amount in enumerate(money.amounts)
        ]
    columns: list[list[Any]] = (
        [list(column) for column in zip(*table, strict=True)] if table else [[] for _ in range(9)]
    )
    names = ("i", "h", "kind", "share", "part", "team", "owner", "currency", "units")
    with connection.cursor() as cursor:
        cursor.execute(
            WRITE_INSTANCE,
            dict(zip(names, columns, strict=True))
            | {"instances": [instance for instance, _ in keys], "hours": [hour for _, hour in keys]},
        )
        written = (cursor.fetchone() or (0,))[0]
    return int(written)
