"""What the benchmarks of `judge` and `meter` share: hosts with jobs on them, a database of their own, a stopwatch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection
from django.test.utils import setup_databases, teardown_databases
from numpy.typing import NDArray

from common.periods import BEGINNING
from fleet.models import Account, Gpu, GpuPlacement, GpuUse, Instance, InstanceState, InstanceVersion, Job

GPUS_EACH = 8
BATCH = 5_000
MODEL = "H100-SXM5-80GB"


def make_hosts(
    gpus: int, start: datetime, attributes: Callable[[int], Mapping[str, Any]]
) -> tuple[list[Instance], list[Gpu]]:
    """Make machines that run since ``start``, their devices in place. ``attributes``: of the machine of a number."""
    account = Account.objects.create(name="bench", kind="static", provider="bench")
    boxes = Instance.objects.bulk_create(
        Instance(account=account, external_id=f"i-{n}", host=f"node-{n}", launched_at=start, gpu_count=GPUS_EACH)
        for n in range(gpus // GPUS_EACH)
    )
    InstanceVersion.objects.bulk_create(
        InstanceVersion(
            instance=box,
            valid_from=BEGINNING,
            attributes={"gpu_count": GPUS_EACH, "host": box.host, **attributes(n)},
        )
        for n, box in enumerate(boxes)
    )
    InstanceState.objects.bulk_create(InstanceState(instance=box, start=start, state="running") for box in boxes)
    rows = Gpu.objects.bulk_create(
        (
            Gpu(
                uuid=f"GPU-{n}", index=n % GPUS_EACH, model=MODEL, host=box.host, instance=box, first_seen_at=start,
                last_seen_at=start, memory_total_mib=81_559, power_limit_watts=700.0,
            )
            for n, box in enumerate(box for box in boxes for _ in range(GPUS_EACH))
        ),
        batch_size=BATCH,
    )  # fmt: skip
    GpuPlacement.objects.bulk_create(
        (GpuPlacement(gpu=row, start=start, host=row.host, instance_id=row.instance_id) for row in rows),
        batch_size=BATCH,
    )
    return boxes, rows


def hold(
    rows: Sequence[Gpu], jobs: Sequence[Job], job_of: Callable[[int], int], since: Callable[[int], datetime]
) -> None:
    """Write the jobs and let each hold its GPUs: the one of number n is held by ``job_of(n)``, ``since(n)``."""
    made = Job.objects.bulk_create(jobs, batch_size=BATCH)
    GpuUse.objects.bulk_create(
        (GpuUse(gpu=row, job=made[job_of(n)], start=since(n)) for n, row in enumerate(rows)), batch_size=BATCH
    )


def settled(rows: Sequence[Gpu]) -> NDArray[np.int64]:
    """Let the database learn what it holds; give the ids of the GPUs."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return np.array([row.pk for row in rows], dtype=np.int64)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Time one call; give its answer too."""
    began = time.perf_counter()
    answer = work()
    return time.perf_counter() - began, answer


@contextmanager
def empty_database() -> Iterator[None]:
    """Work on a database of its own, which goes afterwards."""
    kept = setup_databases(verbosity=0, interactive=False)
    try:
        yield
    finally:
        teardown_databases(kept, verbosity=0)
