"""Storing samples: merged with what is there, written by COPY and one upsert, the changed hours marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from common.partitions import make_months
from fleet.domain import packing
from fleet.domain.samples import SampleBlock
from fleet.queries.samples import load_hours

_POSTGRES_EPOCH_SECONDS = 946_684_800
_ROW = np.dtype(
    [
        ("fields", ">i2"), ("gpu_bytes", ">i4"), ("gpu", ">i8"), ("hour_bytes", ">i4"), ("hour", ">i8"),
        ("data_bytes", ">i4"), ("data", packing.RECORD, (packing.PER_HOUR,)),
    ]
)  # fmt: skip
_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"


@dataclass(frozen=True)
class StoreResult:
    """``written`` samples changed; ``changed`` are their (GPU, hour)."""

    written: int = 0
    changed: list[tuple[int, datetime]] = field(default_factory=list)


def store_block(block: SampleBlock) -> StoreResult:
    """Store the samples with points of ``block``; idempotent. A sample with fewer points never replaces one with more.

    Makes the partitions it needs, marks ChangedHour of the instances on which the GPUs stood.
    """
    hours = np.unique(packing.hour_of(block.marks))
    if not len(block.gpu_ids) or not len(hours) or not (block.points > 0).any():
        return StoreResult()
    new = packing.nothing((len(block.gpu_ids), len(hours), packing.PER_HOUR))
    place = np.searchsorted(hours, packing.hour_of(block.marks))
    new[:, place, packing.slot_of(block.marks)] = packing.pack(block)
    with transaction.atomic():
        with connection.cursor() as cursor:  # read, merge, write: one writer at a time
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('fleet_samplehour rows', 0))")
        old = _stored(block.gpu_ids, hours)
        merged, changed = packing.merge(old, new)
        gpu_at, hour_at = np.nonzero(changed.any(axis=2))
        if not len(gpu_at):
            return StoreResult()
        make_months("fleet_samplehour", [datetime.fromtimestamp(at, UTC) for at in hours.tolist()])
        gpus, starts = block.gpu_ids[gpu_at], hours[hour_at]
        _upsert(gpus, starts, merged[gpu_at, hour_at])
        mark_changed(gpus.tolist(), starts.tolist())
    pairs = [(int(gpu), datetime.fromtimestamp(int(at), UTC)) for gpu, at in zip(gpus, starts, strict=True)]
    return StoreResult(int(changed.sum()), pairs)


def _stored(gpu_ids: NDArray[np.int64], hours: NDArray[np.int64]) -> packing.Records:
    """Give what is stored, [G, H, 12]."""
    old = packing.nothing((len(gpu_ids), len(hours), packing.PER_HOUR))
    gpu, hour, data = load_hours(gpu_ids, int(hours[0]), int(hours[-1]))
    order = np.argsort(gpu_ids, kind="stable")
    row = order[np.searchsorted(gpu_ids, gpu, sorter=order)]
    known = np.isin(hour, hours)
    old[row[known], np.searchsorted(hours, hour[known])] = data[known]
    return old


def _upsert(gpus: NDArray[np.int64], hours: NDArray[np.int64], records: packing.Records) -> None:
    rows = np.zeros(len(gpus), dtype=_ROW)
    rows["fields"], rows["gpu_bytes"], rows["hour_bytes"], rows["data_bytes"] = 3, 8, 8, packing.HOUR_BYTES
    rows["gpu"], rows["data"] = gpus, records
    rows["hour"] = (hours - _POSTGRES_EPOCH_SECONDS) * 1_000_000
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE IF NOT EXISTS staging_samplehour (gpu_id bigint, hour timestamptz, data bytea)"
            " ON COMMIT DROP"
        )
        cursor.execute("TRUNCATE staging_samplehour")
        with cursor.copy("COPY staging_samplehour FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(_HEADER + rows.tobytes() + _TRAILER)
        cursor.execute(
            "INSERT INTO fleet_samplehour (gpu_id, hour, data) SELECT gpu_id, hour, data FROM staging_samplehour"
            " ON CONFLICT (gpu_id, hour) DO UPDATE SET data = excluded.data"
        )


def mark_changed(gpu_ids: Sequence[int], hours: Sequence[int]) -> None:
    """Mark the hours (epoch seconds, beside ``gpu_ids``) of the instances on which the GPUs stood, to be metered."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fleet_changedhour (instance_id, hour)
            SELECT DISTINCT placement.instance_id, to_timestamp(changed.hour)
            FROM unnest(%s::bigint[], %s::bigint[]) AS changed (gpu_id, hour)
            JOIN fleet_gpuplacement placement ON placement.gpu_id = changed.gpu_id
            WHERE placement.instance_id IS NOT NULL
              AND placement.start < to_timestamp(changed.hour + 3600)
              AND (placement."end" IS NULL OR placement."end" > to_timestamp(changed.hour))
            ON CONFLICT (instance_id, hour) DO NOTHING
            """,
            [list(gpu_ids), list(hours)],
        )
