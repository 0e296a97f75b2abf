"""A small fleet with samples as telemetry would have stored them: machines, devices, and what they did when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from fleet.actions.samples import store_block
from fleet.domain.samples import STEP_SECONDS, empty_block
from fleet.domain.signals import Signal
from fleet.models import Account, Gpu, GpuPlacement, GpuUse, Instance, InstanceState, InstanceVersion, Job, Source

DAY = datetime(2025, 6, 3, tzinfo=UTC)


def at(text: str) -> datetime:
    """A time of the day of these stories: 09:30, or 2025-06-04T09:30."""
    if "T" in text:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    hours, minutes = text.split(":")
    return DAY + timedelta(hours=int(hours), minutes=int(minutes))


@dataclass
class Device:
    """A GPU of the story, with the raw points seen so far."""

    row: Gpu
    last_point: float | None = None


def source() -> Source:
    return Source.objects.get_or_create(name="main", kind="prometheus")[0]


def machine(
    name: str,
    *,
    gpus: int = 1,
    started: str | None = "2025-06-02T08:00",
    account: str | None = "lab",
    **attributes: Any,
) -> tuple[Instance, list[Device]]:
    """A running machine with devices that stand in it from the day before on."""
    known = Account.objects.get_or_create(name=account, kind="static", provider="aws")[0] if account else None
    start = at(started) if started else None
    declared = {"host": f"host-{name}", "gpu_count": gpus, "provider": "aws", **attributes}
    row = Instance.objects.create(
        account=known,
        external_id=name,
        host=f"host-{name}",
        launched_at=start if known else None,
        last_started_at=start if known else None,
        gpu_count=gpus,
        attributes=declared,
        first_seen_at=DAY - timedelta(days=1),
    )
    if known:
        InstanceVersion.objects.create(instance=row, valid_from=datetime(1970, 1, 1, tzinfo=UTC), attributes=declared)
        if start:
            InstanceState.objects.create(instance=row, start=start, state="running")
    return row, [device(row, index) for index in range(gpus)]


def device(instance: Instance, index: int, **facts: Any) -> Device:
    """One more device of a machine."""
    seen = facts.pop("first_seen_at", DAY - timedelta(days=1))
    row = Gpu.objects.create(
        uuid=facts.pop("uuid", f"GPU-{instance.external_id}-{index}"), index=index, model="H100-SXM5-80GB",
        memory_total_mib=81_559, power_limit_watts=700.0, host=instance.host, instance=instance, source=source(),
        first_seen_at=seen, last_seen_at=seen, **facts,
    )  # fmt: skip
    GpuPlacement.objects.create(gpu=row, start=seen, host=instance.host, instance=instance)
    return Device(row)


def play(one: Device, since: str, until: str, *, interval: int = 300, **signals: float) -> None:
    """Scrape a device every ``interval`` seconds at times in (since, until]; each signal stays at its value."""
    begin, end = int(at(since).timestamp()), int(at(until).timestamp())
    marks = np.arange(begin + STEP_SECONDS, end + 1, STEP_SECONDS, dtype=np.int64)
    block = empty_block(np.array([one.row.pk], dtype=np.int64), marks)
    for point in range(begin + interval, end + 1, interval):
        column = (point - begin - 1) // STEP_SECONDS
        block.minutes[0, column] += 0 if one.last_point is None else min(interval, point - one.last_point) / 60
        block.first_at[0, column] = np.fmin(block.first_at[0, column], point)
        block.last_at[0, column] = point
        block.points[0, column] += 1
        block.interval[0, column] = interval
        for name, value in signals.items():
            block.mean[Signal(name)][0, column] = block.peak[Signal(name)][0, column] = value
        one.last_point = float(point)
    store_block(block)
    if one.last_point is not None:
        seen = datetime.fromtimestamp(one.last_point, UTC)
        Gpu.objects.filter(pk=one.row.pk).update(last_seen_at=seen)


def first_seen(one: Device, text: str) -> None:
    """Say when a device was seen first."""
    Gpu.objects.filter(pk=one.row.pk).update(first_seen_at=at(text))
    GpuPlacement.objects.filter(gpu=one.row).update(start=at(text))


def job(name: str, devices: list[Device], started: str, ended: str | None = None, **facts: Any) -> Job:
    """A job that holds devices."""
    end = at(ended) if ended else None
    start = at(started)
    row = Job.objects.create(
        source=source(), kind="slurm", external_id=name, started_at=start, ended_at=end, **facts
    )  # fmt: skip
    GpuUse.objects.bulk_create(GpuUse(gpu=one.row, job=row, start=start, end=end) for one in devices)
    return row


class NoPrices:
    """Nothing has a price."""

    def prices(self, instance_ids: Any, at: datetime) -> Mapping[int, Any]:
        return {}
