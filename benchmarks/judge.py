"""`judge` in steady state at 10,000 and 30,000 GPUs, beside a bare read of the same samples; then its first pass.

Must reach: a pass over 10,000 GPUs under 2 s, linear. The fleet: hosts with 8 GPUs, a job per four GPUs, half of the
hosts under a policy with a rule of its own; 70 % work, 20 % hold memory idly, 5 % are empty, 5 % are silent; one host
in fifty changes its mind in every pass. ``FL_BENCH_GPUS`` gives other sizes, separated by commas.
"""

from __future__ import annotations

import os
import resource
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

import numpy as np

from benchmarks.hosts import empty_database, hold, make_hosts, settled, timed
from common.periods import STEP
from fleet.actions.judge import JudgeResult, judge_fleet
from fleet.actions.samples import store_block
from fleet.domain.ports import HourlyPrice
from fleet.domain.samples import empty_block
from fleet.domain.signals import Signal
from fleet.models import Gpu, Job, Policy
from fleet.queries.samples import load_block

SIZES = tuple(int(size) for size in os.environ.get("FL_BENCH_GPUS", "10000,30000").split(","))
START = datetime(2025, 6, 3, tzinfo=UTC)
PASSES = 4
BUDGET_SECONDS = 2.0


class Prices:
    """No price: they are another benchmark's."""

    def prices(self, instance_ids: Any, at: datetime) -> dict[int, HourlyPrice]:
        """Give none."""
        return {}


def make_fleet(gpus: int) -> np.ndarray[Any, Any]:
    """Make hosts, devices, jobs and a policy; give the GPUs' row ids."""
    spec = {"mode": "observe", "select": {"profiles": ["interactive"]}, "idle": {"window": "45m", "warm_up": "45m"}}
    Policy.objects.create(name="interactive", position=0, spec=spec)
    _, rows = make_hosts(gpus, START, lambda n: {"profile": "interactive" if n % 2 else "batch"})
    jobs = [Job(kind="slurm", external_id=str(n), started_at=START) for n in range(gpus // 4)]
    hold(rows, jobs, lambda n: n // 4, lambda _: START)
    return settled(rows)


def store(ids: np.ndarray[Any, Any], since: datetime, until: datetime) -> None:
    """Store the samples of every device at the marks in (since, until]."""
    first, last = int(since.timestamp()) + 300, int(until.timestamp())
    block = empty_block(ids, np.arange(first, last + 1, 300, dtype=np.int64))
    kind = (np.arange(len(ids)) // 8 * 7) % 100
    kind = np.where((np.arange(len(ids)) // 8) % 50 == last // 300 % 50, 99 - kind, kind)
    here = (kind < 95)[:, None]
    block.points[:], block.interval[:] = np.where(here, 10, 0), np.where(here, 30, 0)
    block.minutes[:] = np.where(here, 5, 0)
    block.first_at[:] = np.where(here, block.marks - 270, np.nan)
    block.last_at[:] = np.where(here, block.marks, np.nan)
    activity = np.where(here, np.where((kind < 70)[:, None], 80, 0), np.nan)
    memory = np.where(here, np.where((kind < 90)[:, None], 40_000, 10), np.nan)
    power = np.where(here, np.where((kind < 70)[:, None], 550, 90), np.nan)
    shown = {
        Signal.GPU_UTIL: activity,
        Signal.SM_ACTIVE: activity,
        Signal.TENSOR: activity / 4,
        Signal.DRAM: activity / 4,
    }
    for signal, values in (shown | {Signal.MEMORY_MIB: memory, Signal.POWER_WATTS: power}).items():
        block.mean[signal][:] = block.peak[signal][:] = values
    store_block(block)
    seen = [int(pk) for pk, is_here in zip(ids, here[:, 0], strict=True) if is_here]
    Gpu.objects.filter(pk__in=seen).update(last_seen_at=until)


def measure(gpus: int) -> float:
    """Judge a fleet from nothing, then pass after pass; give the seconds of a steady pass."""
    ids = make_fleet(gpus)
    now = START + timedelta(hours=8)
    store(ids, START, now)
    first, result = timed(partial(judge_fleet, now=now, prices=Prices()))
    spent: list[float] = []
    results: list[JudgeResult] = []
    for _ in range(PASSES):
        store(ids, now, now + STEP)
        now += STEP
        seconds, answer = timed(partial(judge_fleet, now=now, prices=Prices()))
        spent.append(seconds)
        results.append(answer)
    bare, _ = timed(partial(load_block, ids.tolist(), now - timedelta(minutes=85), now))
    steady = sorted(spent)[len(spent) // 2]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{gpus:>7} GPUs: steady pass {steady:.2f} s ({[round(one, 2) for one in spent]}), bare read of its samples"
        f" {bare:.2f} s; first pass over 8 h {first:.2f} s ({result.changed} verdicts, {result.opened} findings);"
        f" then {[one.changed for one in results]} verdicts; {peak:.0f} MB"
    )
    return steady


def main() -> None:
    """Measure each size on a database of its own."""
    for size in SIZES:
        with empty_database():
            steady = measure(size)
        verdict = "within" if steady <= BUDGET_SECONDS * size / 10_000 else "OVER"
        print(f"{size:>7} GPUs: {verdict} the budget of {BUDGET_SECONDS * size / 10_000:.1f} s")


if __name__ == "__main__":
    main()
