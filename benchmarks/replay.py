"""What one pass of `replay` costs over a small fleet, where the fixed part is all there is: statements and time.

The fleet: 5 hosts of 8 GPUs in an account, teams, a rule, two policies, a channel with a route; half of it works, half
is idle, so that verdicts, findings and alerts stand. Six hours in steps of five minutes. With ``FL_BENCH_STATEMENTS``
the statements are listed by how often each is asked in a pass.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

import numpy as np
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.hosts import empty_database, timed
from config.declared.apply import apply_file
from config.pipeline import replay
from fleet.actions.samples import store_block
from fleet.domain.samples import empty_block
from fleet.domain.signals import Signal
from fleet.models import Gpu, GpuPlacement, Instance

START = datetime(2025, 6, 3, tzinfo=UTC)
HOSTS, GPUS_EACH = 5, 8
HOURS = 6
FLEET = """
organization: {name: Example Robotics, currency: USD, time_zone: Europe/Berlin}
teams: [{name: nlp}, {name: vision}]
ownership: [{team_from: {tag: team}}]
prices: [{gpu_model: H100-SXM5-80GB, unit: gpu_hour, price: '2.00'}]
policies:
  - {name: notebooks, mode: observe, select: {profiles: [interactive]}, idle: {window: 45m}}
  - {name: rest, mode: observe, select: {teams: [nlp]}}
channels: [{name: mail, kind: email, to: ops@example.com}]
routes: [{match: {}, channels: [mail]}]
accounts:
  - name: lab
    kind: static
    provider: on-prem
    instances:
"""


def declare() -> None:
    """Apply the fleet's file, then let its GPUs be seen."""
    lines = [
        f"      - {{id: i-{n}, host: node-{n}, gpu_count: {GPUS_EACH}, gpu_model: H100-SXM5-80GB,"
        f" tags: {{team: {'nlp' if n % 2 else 'vision'}}}, launched_at: 2025-06-01T00:00:00Z}}"
        for n in range(HOSTS)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.yaml"
        path.write_text(FLEET + "\n".join(lines) + "\n", encoding="utf-8")
        apply_file(path, now=START)


def seen() -> None:
    """Put GPUs into the machines and store all samples that the replay will come by."""
    gpus = []
    for box in Instance.objects.order_by("pk"):
        for index in range(GPUS_EACH):
            gpu = Gpu.objects.create(
                uuid=f"GPU-{box.pk}-{index}", index=index, model="H100-SXM5-80GB", host=box.host, instance=box,
                first_seen_at=START, last_seen_at=START + timedelta(hours=HOURS), memory_total_mib=81_559,
            )  # fmt: skip
            GpuPlacement.objects.create(gpu=gpu, start=START, host=box.host, instance=box)
            gpus.append(gpu)
    first = int(START.timestamp())
    marks = np.arange(first + 300, first + HOURS * 3600 + 1, 300, dtype=np.int64)
    block = empty_block(np.array([gpu.pk for gpu in gpus], dtype=np.int64), marks)
    block.points[:], block.interval[:], block.minutes[:] = 10, 30, 5
    block.first_at[:], block.last_at[:] = marks - 270, marks
    for signal, busy, idle in (
        (Signal.SM_ACTIVE, 80, 0),
        (Signal.GPU_UTIL, 80, 0),
        (Signal.MEMORY_MIB, 40_000, 40_000),
    ):
        levels = np.where(np.arange(len(gpus)) < len(gpus) // 2, busy, idle)[:, None]
        block.mean[signal][:] = block.peak[signal][:] = levels
    store_block(block)


def main() -> None:
    """Print statements and time of a pass, and which statements there are."""
    with empty_database():
        declare()
        seen()
        half = START + timedelta(hours=HOURS / 2)
        replay(since=START, until=half)
        began = time.process_time()
        with CaptureQueriesContext(connection) as asked:
            seconds, tally = timed(
                lambda: replay(since=half + timedelta(minutes=5), until=START + timedelta(hours=HOURS))
            )
        worked = time.process_time() - began
        print(
            f"{tally.passes} passes: {len(asked) / tally.passes:.1f} statements, {1000 * seconds / tally.passes:.1f} ms"
            f" ({1000 * worked / tally.passes:.1f} ms of processor) each"
        )
        if os.environ.get("FL_BENCH_STATEMENTS"):
            kinds = Counter(one["sql"][:110].replace("\n", " ") for one in asked)
            for sql, count in kinds.most_common(70):
                print(f"{count / tally.passes:6.2f} {sql}")


if __name__ == "__main__":
    main()
