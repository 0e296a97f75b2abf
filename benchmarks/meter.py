"""`meter` and pricing of one new hour at 10,000 and 30,000 GPUs, beside a bare upsert of the same rows; then a backlog.

Must reach: an hour of 10,000 GPUs metered under 2 s, linear. The fleet: hosts with 8 GPUs, 40 teams, a job per four
GPUs that begins at another minute each. ``FL_BENCH_GPUS`` gives other sizes, separated by commas.
"""

from __future__ import annotations

import os
import resource
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

import numpy as np
from django.db import connection, transaction

from benchmarks.hosts import empty_database, hold, make_hosts, settled, timed
from billing.actions.costs import price_hours
from billing.models import InstancePrice
from common.periods import BEGINNING
from fleet.actions.meter import meter
from fleet.actions.samples import store_block
from fleet.domain.samples import empty_block
from fleet.domain.signals import Signal
from fleet.models import Job, OwnershipRule
from people.models import Team

SIZES = tuple(int(size) for size in os.environ.get("FL_BENCH_GPUS", "10000,30000").split(","))
BACKLOG_GPUS, BACKLOG_HOURS = 1_000, 72
START = datetime(2025, 6, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
BUDGET_SECONDS = 2.0


def make_fleet(gpus: int) -> np.ndarray[Any, Any]:
    """Make instances, GPUs, jobs, teams and prices; give the GPUs' row ids."""
    Team.objects.bulk_create(Team(name=f"team-{n}") for n in range(40))
    OwnershipRule.objects.create(valid_from=BEGINNING, position=0, spec={"team_from": {"label": "namespace"}})
    boxes, rows = make_hosts(gpus, START, lambda n: {"owner": f"p{n % 300}@example.com"})
    InstancePrice.objects.bulk_create(
        InstancePrice(instance=box, valid_from=BEGINNING, price_per_hour=Decimal("55.04"), currency="USD")
        for box in boxes
    )
    jobs = [
        Job(kind="pod", external_id=f"team-{n % 40}/p{n}", labels={"namespace": f"team-{n % 40}"}, started_at=START)
        for n in range(max(1, gpus // 4))
    ]
    hold(rows, jobs, lambda n: n % len(jobs), lambda n: START + timedelta(minutes=(n * 7) % 600))
    return settled(rows)


def store_hours(ids: np.ndarray[Any, Any], hour: int, count: int = 1) -> None:
    """Store samples of ``count`` hours."""
    first = int((START + hour * HOUR).timestamp())
    block = empty_block(ids, np.arange(first + 300, first + count * 3600 + 1, 300, dtype=np.int64))
    random = np.random.default_rng(hour)
    block.points[:], block.minutes[:], block.interval[:] = 10, 5, 30
    block.first_at[:], block.last_at[:] = block.marks - 270, block.marks
    for signal in (Signal.SM_ACTIVE, Signal.GPU_UTIL, Signal.MEMORY_MIB):
        block.mean[signal][:] = block.peak[signal][:] = random.uniform(0, 100, block.shape)
    store_block(block)


def bare_upsert() -> None:
    """Write the newest hour's rows once more, with nothing computed: what the database alone needs."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT max(hour) FROM fleet_gpuhour")
        newest = cursor.fetchone()[0]
        cursor.execute("CREATE TEMP TABLE bare ON COMMIT DROP AS SELECT * FROM fleet_gpuhour WHERE hour = %s", [newest])
        cursor.execute("DELETE FROM fleet_gpuhour WHERE hour = %s", [newest])
        cursor.execute("INSERT INTO fleet_gpuhour SELECT * FROM bare")


def measure(gpus: int) -> float:
    """Meter and price one new hour of a fleet, then five minutes more of it; give the seconds of metering."""
    ids = make_fleet(gpus)
    for hour in (0, 1):
        store_hours(ids, hour)
        now = START + (hour + 1) * HOUR
        metered, priced = timed(partial(meter, now=now))[0], timed(price_hours)[0]
    bare = timed(bare_upsert)[0]
    again = timed(lambda: meter(now=START + 2 * HOUR))[0]
    print(
        f"{gpus:>7} GPUs: meter {metered:.2f} s ({metered / bare:.1f} x the bare upsert, {bare:.2f} s), price"
        f" {priced:.2f} s, nothing changed {again:.2f} s"
    )
    return metered


def measure_backlog() -> None:
    """Catch up with three days at once."""
    ids = make_fleet(BACKLOG_GPUS)
    for hour in range(0, BACKLOG_HOURS, 24):
        store_hours(ids, hour, 24)
    now = START + BACKLOG_HOURS * HOUR
    metered, priced = timed(lambda: meter(now=now))[0], timed(price_hours)[0]
    count = BACKLOG_GPUS * BACKLOG_HOURS
    print(
        f"{count:>7} GPU-hours of backlog: meter {metered:.1f} s ({metered / count * 1e6:.0f} µs each),"
        f" price {priced:.1f} s ({priced / count * 1e6:.0f} µs each)"
    )


def main() -> int:
    """Measure; print; give 1 when a budget is broken."""
    spent: dict[int, float] = {}
    for gpus in SIZES:
        with empty_database():
            spent[gpus] = measure(gpus)
    with empty_database():
        measure_backlog()
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    per_gpu = [taken / gpus for gpus, taken in spent.items()]
    too_slow = spent.get(10_000, 0) > BUDGET_SECONDS
    print(
        f"budget: 10,000 GPUs under {BUDGET_SECONDS} s: {'BROKEN' if too_slow else 'kept'};"
        f" time per GPU from size to size: {max(per_gpu) / min(per_gpu):.2f} x"
    )
    return int(too_slow)


if __name__ == "__main__":
    sys.exit(main())
