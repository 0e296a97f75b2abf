"""Low utilisation over seven days, of jobs and of instances whose GPUs no job holds."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.domain.findings import Found
from fleet.domain.states import FindingKind, State
from fleet.domain.units import NOT_RUNNING
from fleet.domain.utilization import DAYS, JOB_MINUTES, Use
from fleet.queries.evidence import percent
from fleet.queries.findings_now import Scene, instance_found, job_found
from fleet.queries.fleet_at import moment
from fleet.queries.job_life import Spans, spans_of_jobs, use_over

WEEK_SECONDS = DAYS * 86_400
SLOTS = 72  # a live pass looks at one part of the fleet in each; all of it within six hours
SLOTS_SMALL, SMALL_FLEET = 12, 100


def slot_of(scene: Scene) -> tuple[int, int]:
    """Which part of the fleet this mark's pass looks at, of how many."""
    slots = SLOTS_SMALL if len(scene.fleet.gpus) <= SMALL_FLEET else SLOTS
    return scene.fleet.mark // 300 % slots, slots


def candidates(scene: Scene, slot: tuple[int, int] = (0, 1)) -> list[tuple[str, int]]:
    """The jobs, and instances without jobs, to look at in this slot; (kind, row id)."""
    place, slots = slot
    fleet = scene.fleet
    found = [("job", pk) for pk in fleet.jobs if pk % slots == place]
    for pk, machine in fleet.machines.items():
        is_free = not any(fleet.jobs_of.get(row) for row in machine.members)
        if pk % slots == place and machine.members and is_free and machine.at.state not in NOT_RUNNING:
            found.append(("instance", pk))
    return found


def low_utilization(scene: Scene, subjects: list[tuple[str, int]]) -> Iterator[Found]:
    """Those of ``subjects`` that use too little of what they hold."""
    fleet = scene.fleet
    since = float(fleet.mark - WEEK_SECONDS)
    job_spans = spans_of_jobs(fleet, [pk for kind, pk in subjects if kind == "job"], since)
    for kind, pk in subjects:
        if kind == "job":
            is_long = fleet.mark - fleet.jobs[pk].started >= JOB_MINUTES * 60
            use = use_over(fleet, job_spans.get(pk, [])) if is_long else None
            if use is not None and use.is_low:
                began = max(fleet.jobs[pk].started, since)
                yield job_found(FindingKind.LOW_UTILIZATION, fleet, pk, moment(began), _evidence(use))
            continue
        machine = fleet.machines[pk]
        if scene.machines[pk].verdict.state is not State.WORKING:
            continue  # idle or unknown is told as that
        began = max(since, machine.started or since)
        spans: Spans = [(row, began, float(fleet.mark)) for row in machine.members]
        use = use_over(fleet, spans)
        if use is not None and use.is_low:
            yield instance_found(FindingKind.LOW_UTILIZATION, machine, moment(began), _evidence(use))


def _evidence(use: Use) -> dict[str, object]:
    return {
        "mean_pct": percent(use.mean_pct),
        "p95_pct": percent(use.p95_pct),
        "peak_pct": percent(use.peak_pct),
        "gpu_hours": round(use.gpu_hours, 2),
        "memory_pct": percent(None if use.memory_share is None else use.memory_share * 100),
        "days": DAYS,
    }
