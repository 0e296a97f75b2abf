"""Suspected hangs of jobs, and of instances whose GPUs no job holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fleet.domain.findings import Found
from fleet.domain.hang import HANG_MINUTES, Hang, find_hangs
from fleet.domain.idle import STATES
from fleet.domain.states import FindingKind, State
from fleet.domain.units import NOT_RUNNING
from fleet.queries.evidence import percent, whole
from fleet.queries.findings_now import Scene, instance_found, job_found
from fleet.queries.fleet_at import moment
from fleet.queries.folding import GROWTH, LONGEST_SPAN_SECONDS
from fleet.queries.samples import load_block

SPAN_SECONDS = 3 * 3600


def suspected_hang(scene: Scene) -> Iterator[Found]:
    """Units in which a GPU hangs and none does other work."""
    fleet = scene.fleet
    in_jobs: set[int] = set()
    for pk, unit in scene.jobs.items():
        in_jobs.update(unit.rows)
        found = _look(scene, unit.rows, fleet.jobs[pk].started)
        if found:
            yield job_found(FindingKind.SUSPECTED_HANG, fleet, pk, *found)
    for pk, unit in scene.machines.items():
        rows = [row for row in unit.rows if row not in in_jobs]
        machine = fleet.machines[pk]
        if machine.at.state in NOT_RUNNING:
            continue
        found = _look(scene, rows, machine.started)
        if found:
            yield instance_found(FindingKind.SUSPECTED_HANG, machine, *found)


def _look(scene: Scene, rows: Sequence[int], began: float | None) -> tuple[Any, dict[str, Any]] | None:
    """Since and evidence of a hang over these GPUs; None when there is none."""
    works = [row for row in rows if STATES[scene.judged.state[row]] is State.WORKING]
    suspects = [row for row in works if scene.judged.spinning[row]]
    if not suspects or len(suspects) < len(works):
        return None
    hang = _back_to_work(scene, suspects, began)
    hung = hang.is_hung & ~np.isnan(hang.since)
    if not hung.any():
        return None
    since = float(hang.since[hung].max())
    limits = scene.fleet.facts(suspects, scene.fleet.mark).power_limit_watts
    evidence = {
        "minutes": whole(float(hang.minutes[hung].min())),
        "power_watts": percent(float(hang.power_watts[hung].max())),
        "power_limit_watts": percent(float(np.nanmax(limits[hung]))),
        "peak_pct": percent(float(scene.judged.peak_pct[suspects].max())),
        "coverage_pct": percent(float(scene.judged.coverage_pct[suspects].min())),
        "gpus": len(rows),
        "hung": [scene.fleet.gpus[row].name for row, is_hung in zip(suspects, hung, strict=True) if is_hung],
    }
    return moment(since), evidence


def _back_to_work(scene: Scene, rows: Sequence[int], began: float | None) -> Hang:
    """Go back in growing spans until the spinning's beginning and real work before it are found, or nothing is left."""
    fleet = scene.fleet
    starts = fleet.facts(rows, fleet.mark).started_at
    first = fleet.first_marks(rows).astype(np.float64) - 300
    begins = np.fmax(np.fmax(starts, first), np.nan if began is None else began)
    machine = fleet.machines.get(fleet.gpus[rows[0]].instance_id)
    rule = machine.rule if machine else fleet.organization_rule
    span = SPAN_SECONDS
    while True:
        begin = fleet.mark - span
        block = load_block(fleet.ids(rows), moment(begin), fleet.at)
        hang = find_hangs(block, fleet.facts(rows, begin), rule, begins)
        long_enough = hang.is_spinning & (hang.minutes >= HANG_MINUTES)
        open_ended = long_enough & (np.isnan(hang.since) | ~hang.worked) & (begins < begin)
        if not open_ended.any() or span >= LONGEST_SPAN_SECONDS:
            return hang
        span = min(span * GROWTH, LONGEST_SPAN_SECONDS)
