"""Reads of GPU-hours for those who price and show them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from common.partitions import months_of
from common.records import fetch
from fleet.models import MeteredSpan

MEASURED = ("working_ms", "low_ms", "held_ms", "empty_ms", "unknown_ms", "stopped_ms")


def staged_rows(keys_table: str) -> NDArray[np.void]:
    """Give the GPU-hours of the staged (instance_id, hour) keys, in order of hour, instance, GPU and share.

    Records: hour_us (PostgreSQL's count), instance_id, gpu_ref, share and the times of `MEASURED`.
    """
    columns = {"hour_us": "i8", "instance_id": "i8", "gpu_ref": "i8", "share": "i2"} | dict.fromkeys(MEASURED, "i8")
    return fetch(
        f"SELECT h.hour, h.instance_id, h.gpu_ref, h.share, {', '.join('h.' + name for name in MEASURED)}"
        f" FROM fleet_gpuhour h JOIN {keys_table} k ON k.hour = h.hour AND k.instance_id = h.instance_id"
        " ORDER BY h.hour, h.instance_id, h.gpu_ref, h.share",
        columns,
    )


def metered_until(instance_ids: Collection[int]) -> dict[int, datetime]:
    """Give the time up to which each instance is metered."""
    found = MeteredSpan.objects.filter(instance_id__in=instance_ids).values_list("instance_id", "until")
    return dict(found)


def hours_by_state(since: datetime, until: datetime) -> dict[str, float]:
    """Give the GPU-hours in each state of the hours that start in [since, until), of the whole fleet."""
    with connection.cursor() as cursor:
        sums = ", ".join(f"coalesce(sum({name}), 0)" for name in MEASURED)
        cursor.execute(f"SELECT {sums} FROM fleet_gpuhour WHERE hour >= %s AND hour < %s", [since, until])
        row = cursor.fetchone() or (0,) * len(MEASURED)
    return {name.removesuffix("_ms"): float(value) / 3_600_000 for name, value in zip(MEASURED, row, strict=True)}


def hours_of_lost_samples(keys: Collection[tuple[int, datetime]]) -> set[tuple[int, datetime]]:
    """Give those (instance, hour) whose rows tell what GPUs did while their samples are kept no longer.

    They stand as they are: metered again, what is known would become unknown.
    """
    kept = months_of("fleet_samplehour")
    old = [(instance, hour) for instance, hour in keys if date(hour.year, hour.month, 1) not in kept]
    if not old:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT h.instance_id, h.hour FROM fleet_gpuhour h"
            " JOIN unnest(%s::bigint[], %s::timestamptz[]) k(instance_id, hour) USING (instance_id, hour)"
            " WHERE h.working_ms + h.low_ms + h.held_ms + h.empty_ms > 0",
            [list(column) for column in zip(*old, strict=True)],
        )
        return {(instance, hour) for instance, hour in cursor.fetchall()}
