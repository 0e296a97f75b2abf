"""Which instances are quiet without being idle yet, and when they would be. Reads only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from fleet.domain.idle_rule import NEVER
from fleet.domain.next_steps import LastMarks, earliest_idle
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.states import State
from fleet.queries.findings_now import Scene
from fleet.queries.fleet_at import Machine, moment

QUIET_SECONDS = 600
"""Quiet for less is a breath between two batches."""
MARKS = ("start", "seen_mark", "busy_mark", "silent_mark", "held_mark", "blind_mark")


@dataclass(frozen=True)
class QuietInstance:
    """An instance (row id), quiet since then, idle then if it stays so."""

    id: int
    quiet_since: datetime
    idle_at: datetime


def last_marks(scene: Scene, row: int) -> LastMarks:
    """Give the newest samples of one GPU by what they said."""
    fold = scene.judged.fold[row]
    return LastMarks(*(float(fold[name]) for name in MARKS))


def waiting_now(scene: Scene) -> Iterator[QuietInstance]:
    """Give the working instances and those warming up whose every GPU is there and has been quiet for a while."""
    quiet = _quiet(scene)
    for pk, unit in scene.machines.items():
        machine, rows = scene.fleet.machines[pk], list(unit.rows)
        if unit.verdict.state not in (State.WORKING, State.WARM_UP) or not rows or not quiet[rows].all():
            continue
        devices = {scene.fleet.gpus[row].uuid for row in rows}
        if len(devices) >= int(machine.at.attributes.get("gpu_count") or 1):
            yield _waiting(scene, pk, machine, rows)


def _quiet(scene: Scene) -> NDArray[np.bool_]:
    """Which GPUs have said nothing but quiet for a while, up to now."""
    fold, now = scene.judged.fold, scene.fleet.mark
    other = np.maximum(fold["busy_mark"], fold["silent_mark"])
    fresh = (fold["seen_mark"] == now) & (fold["quiet_mark"] == now)
    since = np.maximum(np.maximum(other, fold["start"]), fold["first_mark"] - STEP_SECONDS)
    return np.asarray(fresh & (since <= now - QUIET_SECONDS))


def _waiting(scene: Scene, pk: int, machine: Machine, rows: list[int]) -> QuietInstance:
    fold, now = scene.judged.fold[rows], scene.fleet.mark
    busy, start = float(fold["busy_mark"].max()), float(fold["start"].max())
    since = max(busy, start, NEVER if busy > start else float(fold["first_mark"].max()))
    earliest = max(earliest_idle(last_marks(scene, row), machine.rule, now) for row in rows)
    return QuietInstance(pk, moment(since), moment(max(earliest, float(now + STEP_SECONDS))))
