"""How samples are stored: one record of fixed size per sample, twelve of them per GPU-hour.

Units are integers that keep two decimals of a percent exactly (docs/adr tells why); 65535 means missing. Times are
offsets from the start of the sample in 5 ms, so a raw timestamp survives to 2.5 ms. Memory is a float, since MiB of
big boards don't fit 16 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fleet.domain.samples import STEP_SECONDS, SampleBlock
from fleet.domain.signals import Signal

MISSING = 65_535
PER_HOUR = 12
HOUR_SECONDS = 3600
TIME_UNITS, MINUTE_UNITS = 200, 1200  # per second; per minute

UNITS: dict[Signal, int] = {
    Signal.GPU_UTIL: 500,
    Signal.GR_ENGINE: 500,
    Signal.SM_ACTIVE: 500,
    Signal.TENSOR: 500,
    Signal.DRAM: 500,
    Signal.ENCODER: 500,
    Signal.DECODER: 500,
    Signal.POWER_WATTS: 25,
    Signal.TEMPERATURE_C: 100,
}
"""Stored integers per unit of the signal; the order is that of the record and must not change."""

_FIELDS: list[tuple[str, str]] = [
    ("points", "<u2"),
    ("interval", "<u2"),
    ("first", "<u2"),
    ("last", "<u2"),
    ("minutes", "<u2"),
]
for _signal in UNITS:
    _FIELDS += [(f"{_signal}_mean", "<u2"), (f"{_signal}_peak", "<u2")]
_FIELDS += [(f"{Signal.MEMORY_MIB}_mean", "<f4"), (f"{Signal.MEMORY_MIB}_peak", "<f4")]

RECORD = np.dtype(_FIELDS)
HOUR_BYTES = RECORD.itemsize * PER_HOUR
Records = NDArray[Any]


def hour_of(marks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the hour (epoch seconds) that a mark's sample lies in: the sample ends at its mark."""
    return (marks - STEP_SECONDS) // HOUR_SECONDS * HOUR_SECONDS


def slot_of(marks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the place 0 to 11 of a mark within its hour."""
    return (marks - STEP_SECONDS) % HOUR_SECONDS // STEP_SECONDS


def nothing(shape: tuple[int, ...]) -> Records:
    """Give records of samples without points."""
    records = np.zeros(shape, dtype=RECORD)
    for name in RECORD.names or ():
        if RECORD[name].kind == "f":
            records[name] = np.nan
        elif name not in ("points", "interval", "minutes"):
            records[name] = MISSING
    return records


def _small(values: NDArray[Any], units: float) -> NDArray[np.uint16]:
    with np.errstate(invalid="ignore"):
        scaled = np.rint(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0) * units)
    return np.where(np.isfinite(values), np.clip(scaled, 0, MISSING - 1), MISSING).astype(np.uint16)


def pack(block: SampleBlock) -> Records:
    """Give the records [G, N] of a block; a cell without points holds nothing."""
    records = nothing(block.shape)
    start = (block.marks - STEP_SECONDS).astype(np.float64)[None, :]
    full = {
        "points": np.minimum(block.points, MISSING - 1),
        "interval": np.minimum(block.interval, MISSING - 1),
        "first": _small(block.first_at - start, TIME_UNITS),
        "last": _small(block.last_at - start, TIME_UNITS),
        "minutes": _small(block.minutes, MINUTE_UNITS),
    }
    for kind, table in (("mean", block.mean), ("peak", block.peak)):
        for signal, values in table.items():
            packed = values.astype(np.float32) if signal is Signal.MEMORY_MIB else _small(values, UNITS[signal])
            full[f"{signal}_{kind}"] = packed
    has = block.points > 0
    for name, values in full.items():
        records[name][has] = values[has]
    return records


def unpack(records: Records, marks: NDArray[np.int64], block: SampleBlock, rows: NDArray[np.int64]) -> None:
    """Write records [R, N] of the block's ``rows`` into it."""
    start = (marks - STEP_SECONDS).astype(np.float64)[None, :]
    block.points[rows] = records["points"]
    block.interval[rows] = records["interval"]
    block.minutes[rows] = records["minutes"] / np.float32(MINUTE_UNITS)
    has = records["points"] > 0
    block.first_at[rows] = np.where(has, start + records["first"] / TIME_UNITS, np.nan)
    block.last_at[rows] = np.where(has, start + records["last"] / TIME_UNITS, np.nan)
    for kind, table in (("mean", block.mean), ("peak", block.peak)):
        for signal, units in UNITS.items():
            values = records[f"{signal}_{kind}"]
            table[signal][rows] = np.where(values == MISSING, np.float32(np.nan), values / np.float32(units))
        table[Signal.MEMORY_MIB][rows] = records[f"{Signal.MEMORY_MIB}_{kind}"]


def peaks_of(records: Records, signal: Signal) -> NDArray[np.float32]:
    """Give the peaks of one signal (not memory), NaN where there is none."""
    values = records[f"{signal}_peak"]
    decoded: NDArray[np.float32] = np.where(
        (values == MISSING) | (records["points"] == 0), np.float32(np.nan), values / np.float32(UNITS[signal])
    )
    return decoded


def minutes_of(records: Records) -> NDArray[np.float32]:
    """Give the minutes that samples stand for."""
    return np.asarray(records["minutes"] / MINUTE_UNITS, dtype=np.float32)


def merge(old: Records, new: Records) -> tuple[Records, NDArray[np.bool_]]:
    """Put new records over old ones: (merged, which samples changed).

    A sample with fewer points never replaces one with more, and a missing signal never replaces a known one.
    """
    stronger = (new["points"] > 0) & (new["points"] >= old["points"])
    merged = np.where(stronger, new, old)
    other = np.where(stronger, old, new)
    usable = other["points"] > 0
    for name in RECORD.names or ():
        if not name.endswith(("_mean", "_peak")):
            continue
        column = merged[name]
        missing = np.isnan(column) if RECORD[name].kind == "f" else column == MISSING
        fill = missing & usable
        column[fill] = other[name][fill]
    changed = np.zeros(merged.shape, dtype=bool)
    for name in RECORD.names or ():
        left, right = merged[name], old[name]
        differ = left != right
        if RECORD[name].kind == "f":
            differ &= ~(np.isnan(left) & np.isnan(right))
        changed |= differ
    return merged, changed
