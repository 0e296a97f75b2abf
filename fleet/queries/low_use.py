"""Low utilisation over seven days, of jobs and of instances whose GPUs no job holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet.domain.findings import Found
from fleet.domain.states import FindingKind, State
from fleet.domain.units import NOT_RUNNING
from fleet.domain.utilization import DAYS, JOB_MINUTES, Use
from fleet.queries.evidence import percent
from fleet.queries.findings_now import Scene, instance_found, job_found
from fleet.queries.fleet_at import moment
from fleet.queries.job_life import Key, Spans, spans_of_jobs, uses_over

WEEK_SECONDS = DAYS * 86_400
SLOTS = 72  # a live pass looks at one part of the fleet in each; all of it within six hours
SLOTS_SMALL, SMALL_FLEET = 12, 100


def slot_of(scene: Scene) -> tuple[int, int]:
    """Which part of the fleet this mark's pass looks at, of how many."""
    slots = SLOTS_SMALL if len(scene.fleet.gpus) <= SMALL_FLEET else SLOTS
    return scene.fleet.mark // 300 % slots, slots


def candidates(scene: Scene, slot: tuple[int, int] = (0, 1)) -> list[Key]:
    """The jobs, and instances without jobs, to look at in this slot; (kind, row id)."""
    place, slots = slot
    fleet = scene.fleet
    found: list[Key] = [("job", pk) for pk in fleet.jobs if pk % slots == place]
    for pk, machine in fleet.machines.items():
        is_free = not any(fleet.jobs_of.get(row) for row in machine.members)
        if pk % slots == place and machine.members and is_free and machine.at.state not in NOT_RUNNING:
            found.append(("instance", pk))
    return found


def low_utilization(scene: Scene, subjects: Sequence[Key]) -> Iterator[Found]:
    """Those of ``subjects`` that use too little of what they hold."""
    fleet = scene.fleet
    since = float(fleet.mark - WEEK_SECONDS)
    began: dict[Key, float] = {}
    spans: dict[Key, Spans] = {}
    held = spans_of_jobs(fleet, [pk for kind, pk in subjects if kind == "job"], since)
    for key in subjects:
        kind, pk = key
        if kind == "job":
            if fleet.mark - fleet.jobs[pk].started >= JOB_MINUTES * 60:
                began[key], spans[key] = max(fleet.jobs[pk].started, since), held.get(pk, [])
        elif scene.machines[pk].verdict.state is State.WORKING:  # idle or unknown is told as that
            began[key] = max(since, fleet.machines[pk].started or since)
            spans[key] = [(row, began[key], float(fleet.mark)) for row in fleet.machines[pk].members]
    for (kind, pk), use in uses_over(fleet, spans).items():
        if not use.is_low:
            continue
        start = moment(began[kind, pk])
        if kind == "job":
            yield job_found(FindingKind.LOW_UTILIZATION, fleet, pk, start, _evidence(use))
        else:
            yield instance_found(FindingKind.LOW_UTILIZATION, fleet.machines[pk], start, _evidence(use))


def _evidence(use: Use) -> dict[str, object]:
    return {
        "mean_pct": percent(use.mean_pct),
        "p95_pct": percent(use.p95_pct),
        "peak_pct": percent(use.peak_pct),
        "gpu_hours": round(use.gpu_hours, 2),
        "memory_pct": percent(None if use.memory_share is None else use.memory_share * 100),
        "days": DAYS,
    }
