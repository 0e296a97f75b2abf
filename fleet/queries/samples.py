"""Reading samples: fixed records through COPY in binary form, straight into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from common.partitions import months_of
from common.periods import STEP, floor_mark
from fleet.domain import packing
from fleet.domain.samples import STEP_SECONDS, SampleBlock, empty_block
from fleet.domain.signals import Signal

_ROW = np.dtype(
    [
        ("fields", ">i2"), ("gpu_bytes", ">i4"), ("gpu", ">i8"), ("hour_bytes", ">i4"), ("hour", ">i8"),
        ("data_bytes", ">i4"), ("data", packing.RECORD, (packing.PER_HOUR,)),
    ]
)  # fmt: skip
_HEADER_BYTES, _TRAILER_BYTES = 19, 2


def load_block(gpu_ids: Sequence[int], since: datetime, until: datetime) -> SampleBlock:
    """Give the samples of ``gpu_ids`` (in that order) at the marks in ``(since, until]``.

    What was never stored is NaN.
    """
    first, last = floor_mark(since) + STEP, floor_mark(until)
    marks = np.arange(int(first.timestamp()), int(last.timestamp()) + 1, STEP_SECONDS, dtype=np.int64)
    ids = np.asarray(gpu_ids, dtype=np.int64)
    block = empty_block(ids, marks)
    if not len(marks) or not len(ids):
        return block
    gpu, hour, data = load_hours(ids, int(packing.hour_of(marks[:1])[0]), int(packing.hour_of(marks[-1:])[0]))
    order = np.argsort(ids, kind="stable")
    row = order[np.searchsorted(ids, gpu, sorter=order)]
    for start in np.unique(packing.hour_of(marks)):
        columns = np.flatnonzero(packing.hour_of(marks) == start)
        here = hour == start
        part = empty_block(ids[row[here]], marks[columns])
        packing.unpack(data[here][:, packing.slot_of(marks[columns])], marks[columns], part, np.arange(int(here.sum())))
        _place(block, part, row[here], columns)
    return block


@dataclass(frozen=True)
class Peaks:
    """Peaks of some signals [G, N] at ``marks`` (epoch seconds), NaN where nothing was seen; ``minutes`` likewise."""

    marks: NDArray[np.int64]
    minutes: NDArray[np.float32]
    of: Mapping[Signal, NDArray[np.float32]]


def load_peaks(gpu_ids: Sequence[int], since: datetime, until: datetime, signals: Sequence[Signal]) -> Peaks:
    """Give the peaks of ``gpu_ids`` (in that order) at the marks in ``(since, until]``: months of some GPUs at once."""
    first, last = floor_mark(since) + STEP, floor_mark(until)
    marks = np.arange(int(first.timestamp()), int(last.timestamp()) + 1, STEP_SECONDS, dtype=np.int64)
    ids = np.asarray(gpu_ids, dtype=np.int64)
    if not len(marks) or not len(ids):
        nothing = np.full((len(ids), len(marks)), np.nan, dtype=np.float32)
        return Peaks(marks, nothing, dict.fromkeys(signals, nothing))
    begin, end = (int(packing.hour_of(marks[place : place + 1 or None])[0]) for place in (0, -1))
    gpu, hour, data = load_hours(ids, begin, end)
    order = np.argsort(ids, kind="stable")
    row = order[np.searchsorted(ids, gpu, sorter=order)]
    column = (hour - begin) // packing.HOUR_SECONDS
    shape = (len(ids), (end - begin) // packing.HOUR_SECONDS + 1, packing.PER_HOUR)
    skipped = int(packing.slot_of(marks[:1])[0])
    within = slice(skipped, skipped + len(marks))

    def spread(values: NDArray[np.float32]) -> NDArray[np.float32]:
        whole = np.full(shape, np.nan, dtype=np.float32)
        whole[row, column] = values
        return whole.reshape(len(ids), -1)[:, within]

    found = {signal: spread(packing.peaks_of(data, signal)) for signal in signals}
    return Peaks(marks, np.nan_to_num(spread(packing.minutes_of(data))), found)


def _place(block: SampleBlock, part: SampleBlock, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
    """Copy the samples of one hour to their place."""
    place = np.s_[rows, int(columns[0]) : int(columns[-1]) + 1]
    for name in ("points", "interval", "first_at", "last_at", "minutes"):
        getattr(block, name)[place] = getattr(part, name)
    for signal in part.mean:
        block.mean[signal][place] = part.mean[signal]
        block.peak[signal][place] = part.peak[signal]


def load_hours(
    gpu_ids: NDArray[np.int64], first_hour: int, last_hour: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], packing.Records]:
    """Give the stored rows of the hours (epoch seconds, inclusive) as (gpu [R], hour [R], records [R, 12])."""
    # Whole numbers stand in the text itself: Django's cursor for debugging copies without parameters.
    ids = ",".join(map(str, gpu_ids.tolist()))
    statement = (
        "COPY (SELECT gpu_id, extract(epoch FROM hour)::bigint, data FROM fleet_samplehour"
        f" WHERE hour >= to_timestamp({first_hour:d}) AND hour <= to_timestamp({last_hour:d})"
        f" AND gpu_id = ANY('{{{ids}}}'::bigint[])) TO STDOUT (FORMAT BINARY)"
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        content = b"".join(bytes(part) for part in copy)
    body = len(content) - _HEADER_BYTES - _TRAILER_BYTES
    if body % _ROW.itemsize:
        raise ValueError("samples of another layout are stored; migrate them first")
    rows = np.frombuffer(content, dtype=_ROW, count=body // _ROW.itemsize, offset=_HEADER_BYTES)
    if len(rows) and (rows["data_bytes"] != packing.HOUR_BYTES).any():
        raise ValueError("samples of another layout are stored; migrate them first")
    return rows["gpu"].astype(np.int64), rows["hour"].astype(np.int64), rows["data"]


def newest_hour() -> datetime | None:
    """Give the start of the newest hour with samples: retention counts from here."""
    with connection.cursor() as cursor:
        for month in sorted(months_of("fleet_samplehour"), reverse=True):  # asked of the whole: a part may not be ours
            cursor.execute(
                "SELECT max(hour) FROM fleet_samplehour"
                " WHERE hour >= %s::timestamp AT TIME ZONE 'UTC'"
                " AND hour < (%s::timestamp + interval '1 month') AT TIME ZONE 'UTC'",
                [month, month],
            )
            found = cursor.fetchone()
            if found and found[0]:
                newest: datetime = found[0].astimezone(UTC)
                return newest
    return None
