"""Costs of hours, machine-days and machine-months are kept as long as the hours; team-days for ever."""

from __future__ import annotations

from datetime import datetime

from billing.models import InstanceHourCost, MachineDay, MachineMonth
from common.partitions import drop_months
from fleet.domain.gpu_hours import GPU_HOURS_KEPT
from fleet.queries.samples import newest_hour


def retain_costs(*, now: datetime) -> dict[str, int]:
    """Drop the costs of hours older than 25 months, counted from the newest sample, not from a clock that jumped."""
    newest = min(newest_hour() or now, now)
    oldest = newest - GPU_HOURS_KEPT
    partitions = drop_months("billing_gpuhourcost", before=oldest)
    rows, _ = InstanceHourCost.objects.filter(hour__lt=oldest.replace(day=1, hour=0, minute=0)).delete()
    first = oldest.date().replace(day=1)
    MachineDay.objects.filter(day__lt=first).delete()
    MachineMonth.objects.filter(month__lt=first).delete()
    return {"cost_partitions_dropped": partitions, "instance_costs_dropped": rows}
