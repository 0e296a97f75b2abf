"""Three layouts of samples side by side: packed GPU-hours (ours), GPU-hours with arrays, one row per sample.

For each: bytes per sample with indexes, writing one new mark, reading 90 minutes of everything, reading a week of 100
GPUs.
``FL_BENCH_GPUS`` changes the number of GPUs (10,000).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

GPUS = int(os.environ.get("FL_BENCH_GPUS", "10000"))
START = datetime(2025, 6, 3, tzinfo=UTC)
HOURS, WEEK_HOURS, WEEK_GPUS, READ_GPUS = 2, 168, 300, 100
VACUUM_SHARE = 0.2  # autovacuum comes when so much of a table is dead; here it is called by hand at that point
EPOCH_2000 = 946_684_800
SMALL = [
    *(f"s{i}" for i in range(18)),
    "points",
    "interval",
    "first",
    "last",
    "minutes",
]  # int2 of 9 signals and timing
REAL = ["memory_mean", "memory_peak"]
HEADER, TRAILER = b"PGCOPY\n\xff\r\n\x00" + bytes(8), b"\xff\xff"


@dataclass
class Layout:
    """How one layout writes a mark of all GPUs and reads a range."""

    name: str
    table: str
    write: Callable[[NDArray[np.int64], datetime], None]
    read: Callable[[Sequence[int], datetime, datetime], int]
    is_updated: bool = True  # a new mark changes rows that are there


def main() -> int:
    """Measure and print one line per layout."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    print(f"size: {WEEK_GPUS} GPUs x {WEEK_HOURS} h; times: {GPUS} GPUs; a week: of {READ_GPUS} GPUs")
    print(f"{'layout':<16}{'bytes/sample':>14}{'write a mark':>14}{'read 90 min':>13}{'read a week':>13}")
    for layout in (packed(), arrays(), narrow()):
        measure(layout)
    return 0


def measure(layout: Layout) -> None:
    """Fill a week of some GPUs and take its size; then time the marks of all, and both reads (best of three)."""
    everyone, some, few = np.arange(1, GPUS + 1), np.arange(1, WEEK_GPUS + 1), list(range(1, READ_GPUS + 1))
    start = START - timedelta(hours=WEEK_HOURS)
    updated = 0
    for step in range(1, WEEK_HOURS * 12 + 1):
        layout.write(some, start + timedelta(minutes=5 * step))
        updated += WEEK_GPUS if layout.is_updated and step % 12 != 1 else 0
        if updated > VACUUM_SHARE * WEEK_GPUS * (step / 12):
            run(f"VACUUM {layout.table}")
            updated = 0
    size = total_size(layout.table) / (WEEK_GPUS * WEEK_HOURS * 12)
    writes: list[float] = []
    for step in range(1, HOURS * 12 + 1):
        began = time.perf_counter()
        layout.write(everyone, START + timedelta(minutes=5 * step))
        writes.append(time.perf_counter() - began)
    run(f"VACUUM ANALYZE {layout.table}")
    end = START + timedelta(hours=HOURS)
    near = min(timed(lambda: layout.read(everyone.tolist(), end - timedelta(minutes=90), end)) for _ in range(3))
    week = min(timed(lambda: layout.read(few, end - timedelta(hours=WEEK_HOURS), end)) for _ in range(3))
    mark = sorted(writes)[len(writes) // 2]
    print(f"{layout.name:<16}{size:>14.0f}{mark:>12.3f} s{near:>11.3f} s{week:>11.3f} s", flush=True)


def timed(work: Callable[[], object]) -> float:
    """Give the seconds that work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def run(statement: str) -> None:
    """Run one statement."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)


def total_size(table: str) -> int:
    """Give the bytes of a table with its indexes and partitions."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(pg_total_relation_size(relid)), 0) FROM pg_partition_tree(%s::regclass)", [table]
        )
        (partitioned,) = cursor.fetchone()
        cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [table])
        (plain,) = cursor.fetchone()
    return int(max(partitioned, plain))


def packed() -> Layout:
    """Give the layout that the product uses."""
    from fleet.actions.samples import store_block
    from fleet.domain.samples import empty_block
    from fleet.domain.signals import Signal
    from fleet.queries.samples import load_block

    run("TRUNCATE fleet_samplehour")
    noise = np.random.default_rng(1)

    def write(gpus: NDArray[np.int64], at: datetime) -> None:
        block = empty_block(gpus.astype(np.int64), np.array([int(at.timestamp())]))
        block.points[:], block.interval[:], block.minutes[:] = 10, 30, 5
        block.first_at[:], block.last_at[:] = block.marks - 271, block.marks - 1
        for signal in Signal:
            block.mean[signal][:] = block.peak[signal][:] = noise.uniform(0, 100, block.shape)
        store_block(block)

    def read(gpus: Sequence[int], since: datetime, until: datetime) -> int:
        return int(load_block(gpus, since, until).points.sum())

    return Layout("packed hours", "fleet_samplehour", write, read)


def copy_in(table: str, rows: NDArray[np.void]) -> None:
    """COPY fixed records in binary form."""
    from django.db import connection

    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(HEADER + rows.tobytes() + TRAILER)


def copy_out(query: str, row: np.dtype[np.void]) -> int:
    """COPY fixed records out and look at every one of them."""
    from django.db import connection

    with connection.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)") as copy:
        content = b"".join(bytes(part) for part in copy)
    rows = np.frombuffer(content, dtype=row, count=(len(content) - 21) // row.itemsize, offset=19)
    return int(sum(rows[name].astype(np.float32).sum() for name in row.names or () if name.startswith("v_")))


def sample_row() -> np.dtype[np.void]:
    """Give the binary row of one sample."""
    parts = [("n", ">i2"), ("l_gpu", ">i4"), ("gpu", ">i8"), ("l_at", ">i4"), ("at", ">i8")]
    for name in SMALL:
        parts += [(f"l_{name}", ">i4"), (f"v_{name}", ">i2")]
    for name in REAL:
        parts += [(f"l_{name}", ">i4"), (f"v_{name}", ">f4")]
    return np.dtype(parts)


def fill_rows(gpus: NDArray[np.int64], at: datetime) -> NDArray[np.void]:
    """Give the rows of one mark."""
    noise = np.random.default_rng(int(at.timestamp()))
    rows = np.zeros(len(gpus), dtype=sample_row())
    rows["n"], rows["l_gpu"], rows["l_at"] = 2 + len(SMALL) + len(REAL), 8, 8
    rows["gpu"], rows["at"] = gpus, int(at.timestamp() - EPOCH_2000) * 1_000_000
    for name in SMALL:
        rows[f"l_{name}"], rows[f"v_{name}"] = 2, noise.integers(0, 10_000, len(gpus))
    for name in REAL:
        rows[f"l_{name}"], rows[f"v_{name}"] = 4, noise.uniform(0, 80_000, len(gpus))
    return rows


COLUMNS = ", ".join([*(f"{name} int2" for name in SMALL), *(f"{name} float4" for name in REAL)]).replace(
    "first", '"first"'
)
NAMES = [f'"{name}"' for name in [*SMALL, *REAL]]


def narrow() -> Layout:
    """Give the layout with one row per sample."""
    run("DROP TABLE IF EXISTS narrow_samples, narrow_staging")
    run(f"CREATE TABLE narrow_samples (gpu bigint, at timestamptz, {COLUMNS}, PRIMARY KEY (gpu, at))")
    run("CREATE TEMP TABLE narrow_staging AS SELECT * FROM narrow_samples WITH NO DATA")

    def write(gpus: NDArray[np.int64], at: datetime) -> None:
        run("TRUNCATE narrow_staging")
        copy_in("narrow_staging", fill_rows(gpus, at))
        changes = ", ".join(f"{name} = excluded.{name}" for name in NAMES)
        run(f"INSERT INTO narrow_samples SELECT * FROM narrow_staging ON CONFLICT (gpu, at) DO UPDATE SET {changes}")

    def read(gpus: Sequence[int], since: datetime, until: datetime) -> int:
        ids = ",".join(map(str, gpus))
        where = f"at > '{since.isoformat()}' AND at <= '{until.isoformat()}' AND gpu = ANY('{{{ids}}}')"
        return copy_out(f"SELECT * FROM narrow_samples WHERE {where}", sample_row())

    return Layout("narrow rows", "narrow_samples", write, read, is_updated=False)


def arrays() -> Layout:
    """Give the layout with a row per GPU-hour and an array of twelve per column."""
    run("DROP TABLE IF EXISTS array_hours, narrow_staging")
    columns = ", ".join([*(f'"{name}" int2[]' for name in SMALL), *(f"{name} float4[]" for name in REAL)])
    key = "PRIMARY KEY (gpu, hour)"
    run(f"CREATE TABLE array_hours (gpu bigint, hour timestamptz, {columns}, {key}) WITH (fillfactor = 85)")
    run(f"CREATE TEMP TABLE narrow_staging (gpu bigint, at timestamptz, {COLUMNS})")
    empty = [*("array_fill(-1::int2, '{12}')" for _ in SMALL), *("array_fill('NaN'::float4, '{12}')" for _ in REAL)]
    parts: list[tuple[str, str]] = [("n", ">i2"), ("l_gpu", ">i4"), ("gpu", ">i8"), ("l_at", ">i4"), ("at", ">i8")]
    row: list[tuple[str, object]] = [*parts]
    for name, item in [*((name, ">i2") for name in SMALL), *((name, ">f4") for name in REAL)]:
        element = np.dtype([("l", ">i4"), ("v", item)])
        row += [(f"l_{name}", ">i4"), (f"h_{name}", "V20"), (f"a_{name}", element, (12,))]  # type: ignore[list-item]
    record = np.dtype(row)

    def write(gpus: NDArray[np.int64], at: datetime) -> None:
        run("TRUNCATE narrow_staging")
        copy_in("narrow_staging", fill_rows(gpus, at))
        slot = int((at.timestamp() - 300) % 3600 // 300) + 1
        hour = datetime.fromtimestamp((at.timestamp() - 300) // 3600 * 3600, UTC).isoformat()
        values = ", ".join(empty)
        run(f"INSERT INTO array_hours SELECT gpu, '{hour}', {values} FROM narrow_staging ON CONFLICT DO NOTHING")
        changes = ", ".join(f"{name}[{slot}] = staged.{name}" for name in NAMES)
        where = f"array_hours.gpu = staged.gpu AND array_hours.hour = '{hour}'"
        run(f"UPDATE array_hours SET {changes} FROM narrow_staging staged WHERE {where}")

    def read(gpus: Sequence[int], since: datetime, until: datetime) -> int:
        from django.db import connection

        ids = ",".join(map(str, gpus))
        first = datetime.fromtimestamp(since.timestamp() // 3600 * 3600, UTC).isoformat()
        where = f"hour >= '{first}' AND hour < '{until.isoformat()}' AND gpu = ANY('{{{ids}}}')"
        query = f"COPY (SELECT * FROM array_hours WHERE {where}) TO STDOUT (FORMAT BINARY)"
        with connection.cursor() as cursor, cursor.copy(query) as copy:
            content = b"".join(bytes(part) for part in copy)
        rows = np.frombuffer(content, dtype=record, count=(len(content) - 21) // record.itemsize, offset=19)
        return int(sum(rows[f"a_{name}"]["v"].astype(np.float32).sum() for name in [*SMALL, *REAL]))

    return Layout("array hours", "array_hours", write, read)


if __name__ == "__main__":
    sys.exit(main())
