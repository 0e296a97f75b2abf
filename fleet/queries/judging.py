"""Verdicts of every GPU, instance and job at a mark, from where the folds stand. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fleet.domain.carry import DTYPE
from fleet.domain.evidence import CONFIDENCES, Evidence, gather
from fleet.domain.idle import REASONS, STATES, Track
from fleet.domain.idle_rule import NEVER, IdleRule, Numbers
from fleet.domain.quiet import ACTIVITY
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.states import IDLE, Reason, State
from fleet.domain.units import GpuVerdict, MachineFacts, UnitVerdict, judge_instance, judge_job
from fleet.queries.fleet_at import FleetAt, Machine
from fleet.queries.folding import Piece, covered_minutes, fold, settle

Rows = NDArray[np.int64]


@dataclass
class Judged:
    """What is known of all G GPUs of the fleet at the mark; arrays [G], codes as in `idle` and `evidence`.

    ``fold`` is the carry of each GPU at the mark; percents are NaN where nothing was seen.
    """

    state: NDArray[np.int8]
    reason: NDArray[np.int8]
    window_seconds: NDArray[np.int64]
    coverage_pct: Numbers
    peak_pct: Numbers
    mean_pct: Numbers
    signal: NDArray[np.int8]
    points: NDArray[np.int64]
    memory: NDArray[np.int8]
    confidence: NDArray[np.int8]
    spinning: NDArray[np.bool_]
    fold: NDArray[np.void]

    @cached_property
    def lists(self) -> dict[str, list[Any]]:
        """The arrays as lists, for reading one GPU after another; not before everything is filled in."""
        names = ("state", "reason", "coverage_pct", "peak_pct", "mean_pct", "signal", "confidence")
        return {name: getattr(self, name).tolist() for name in names} | {"since": self.fold["since"].tolist()}

    @cached_property
    def _verdicts(self) -> dict[int, GpuVerdict]:
        return {}

    def verdict(self, fleet: FleetAt, row: int) -> GpuVerdict:
        """One GPU's verdict."""
        found = self._verdicts.get(row)
        if found is None:
            gpu, lists = fleet.gpus[row], self.lists
            state, since = STATES[lists["state"][row]], lists["since"][row]
            clock = since if state in IDLE and since > NEVER else None
            found = GpuVerdict(gpu.uuid, gpu.model, state, REASONS[lists["reason"][row]], clock)
            self._verdicts[row] = found
        return found

    def signal_name(self, row: int) -> str | None:
        """The activity signal that is shown, None without one."""
        signal = self.lists["signal"][row]
        return str(ACTIVITY[signal]) if signal >= 0 else None

    def confidence_name(self, row: int) -> str | None:
        """How sure the verdict is; None when it is unknown."""
        lists = self.lists
        return None if STATES[lists["state"][row]] is State.UNKNOWN else CONFIDENCES[lists["confidence"][row]]

    def empty_since(self, row: int) -> float:
        """Since when the GPU is quiet with its memory empty, by the fold; only of use while it is empty."""
        fold = self.fold[row]
        return float(max(fold["since"], fold["held_mark"], fold["blind_mark"]))


@dataclass(frozen=True)
class Unit:
    """An instance or job as judged, over the GPUs ``rows``; percents are None where nothing was seen."""

    verdict: UnitVerdict
    rows: tuple[int, ...]
    coverage_pct: float | None
    peak_pct: float | None
    mean_pct: float | None
    signal: str | None
    confidence: str | None


def judge_gpus(fleet: FleetAt, only: Collection[int] | None = None) -> Judged:
    """Judge GPUs (``only``: row numbers; None: all) by their instances' rules, from samples alone."""
    judged = blank(fleet)
    for rule, group in fleet.rule_groups.items():
        rows = np.array([row for row in group if only is None or row in only], dtype=np.int64)
        if len(rows):
            carry = settle(fleet, rows, rule, fleet.mark - STEP_SECONDS)
            for piece in fold(fleet, (rows, carry), rule, fleet.mark):
                fill(judged, fleet, rule, piece)
    return judged


def blank(fleet: FleetAt) -> Judged:
    """Nothing known yet of any GPU."""
    count = len(fleet.gpus)
    zeros = np.zeros(count, dtype=np.int8)
    nothing = np.full(count, np.nan)
    return Judged(
        state=zeros.copy(),
        reason=zeros + REASONS.index(Reason.NO_DATA),
        window_seconds=np.zeros(count, dtype=np.int64),
        coverage_pct=nothing.copy(),
        peak_pct=nothing.copy(),
        mean_pct=nothing.copy(),
        signal=zeros - 1,
        points=np.zeros(count, dtype=np.int64),
        memory=zeros.copy(),
        confidence=zeros.copy(),
        spinning=np.zeros(count, dtype=np.bool_),
        fold=np.zeros(count, dtype=DTYPE),
    )


def fill(judged: Judged, fleet: FleetAt, rule: IdleRule, piece: Piece) -> None:
    """Put down what a piece says of those of its GPUs that ``rule`` is for, if it ends at the fleet's mark."""
    if piece.track.marks[-1] == fleet.mark:
        evidence = gather(piece.block, piece.facts, rule, piece.track)
        mine = fleet.rule_flags(rule)[piece.rows]
        _write(judged, piece.rows, mine, piece.track, evidence)


def _write(judged: Judged, rows: Rows, mine: NDArray[np.bool_], track: Track, evidence: Evidence) -> None:
    for name in ("state", "reason", "window_seconds", "coverage_pct"):
        getattr(judged, name)[rows[mine]] = getattr(track, name)[mine, -1]
    for name in ("peak_pct", "mean_pct", "signal", "points", "memory", "confidence", "spinning"):
        getattr(judged, name)[rows[mine]] = getattr(evidence, name)[mine]
    judged.fold[rows[mine]] = track.carry.rows[mine]


def judge_machines(fleet: FleetAt, judged: Judged) -> dict[int, Unit]:
    """Judge every instance, by row id."""
    now = float(fleet.mark)
    return {
        pk: _unit(judged, machine.members, judge_instance(
            machine_facts(machine), [judged.verdict(fleet, row) for row in machine.members], now
        ))
        for pk, machine in fleet.machines.items()
    }  # fmt: skip


def judge_jobs(fleet: FleetAt, judged: Judged) -> dict[int, Unit]:
    """Judge every job over all its GPUs, by row id."""
    return {
        pk: _unit(judged, job.gpus, judge_job([judged.verdict(fleet, row) for row in job.gpus]))
        for pk, job in fleet.jobs.items()
    }


def machine_facts(machine: Machine) -> MachineFacts:
    """What the inventory says of an instance."""
    attributes = machine.at.attributes
    count = attributes.get("gpu_count")
    return MachineFacts(
        provider_state=str(machine.at.state),
        started_at=machine.started,
        warm_up_seconds=machine.rule.warm_up_seconds,
        gpu_count=int(count) if count else None,
        gpu_model=str(attributes.get("gpu_model") or ""),
        is_contested=machine.is_contested,
    )


def _unit(judged: Judged, rows: Sequence[int], verdict: UnitVerdict) -> Unit:
    """Put the evidence of the GPUs together: the lowest coverage, the highest peak, the mean of the means."""
    lists = judged.lists
    peaks = [peak for peak in (lists["peak_pct"][row] for row in rows) if not isnan(peak)]
    means = [mean for mean in (lists["mean_pct"][row] for row in rows) if not isnan(mean)]
    signals = [name for name in (judged.signal_name(row) for row in rows) if name is not None]
    sure = [name for name in (judged.confidence_name(row) for row in rows) if name is not None]
    is_known = verdict.state in {State.WORKING, *IDLE}
    return Unit(
        verdict=verdict,
        rows=tuple(rows),
        coverage_pct=min((lists["coverage_pct"][row] for row in rows), default=None),
        peak_pct=max(peaks, default=None),
        mean_pct=fsum(means) / len(means) if means else None,
        signal=max(dict.fromkeys(signals), key=signals.count, default=None),
        confidence=min(sure, key=CONFIDENCES.index) if sure and is_known else None,
    )


def minutes_since(fleet: FleetAt, judged: Judged, asked: Sequence[tuple[Sequence[int], float]]) -> list[float]:
    """The covered minutes since a time of each (GPU rows, since): the smallest over the rows.

    The folds know them of GPUs whose own clock began then; samples are read for the others.
    """
    result = [float("inf")] * len(asked)
    places: list[int] = []
    unknown: list[tuple[int, float]] = []
    for place, (rows, since) in enumerate(asked):
        for row in rows:
            if judged.fold["since"][row] == since:
                result[place] = min(result[place], float(judged.fold["minutes"][row]))
            else:
                places.append(place)
                unknown.append((row, since))
    for place, minutes in zip(places, covered_minutes(fleet, unknown, fleet.mark), strict=True):
        result[place] = min(result[place], minutes)
    return [0.0 if minutes == float("inf") else minutes for minutes in result]
