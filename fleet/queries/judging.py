"""Verdicts of every GPU, instance and job at a mark, from where the folds stand. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

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

    def verdict(self, fleet: FleetAt, row: int) -> GpuVerdict:
        """One GPU's verdict."""
        gpu = fleet.gpus[row]
        since = float(self.fold["since"][row])
        state = STATES[self.state[row]]
        return GpuVerdict(
            gpu.uuid, gpu.model, state, REASONS[self.reason[row]], since if state in IDLE and since > NEVER else None
        )

    def signal_name(self, row: int) -> str | None:
        """The activity signal that is shown, None without one."""
        return str(ACTIVITY[self.signal[row]]) if self.signal[row] >= 0 else None

    def confidence_name(self, row: int) -> str | None:
        """How sure the verdict is; None when it is unknown."""
        return None if STATES[self.state[row]] is State.UNKNOWN else CONFIDENCES[self.confidence[row]]

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
    for rule, group in fleet.rule_groups().items():
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
        mine = np.array([fleet.rule_of(row) == rule for row in piece.rows.tolist()], dtype=np.bool_)
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
    some = list(rows)
    peaks, means = judged.peak_pct[some], judged.mean_pct[some]
    there = ~np.isnan(peaks)
    signals = [judged.signal_name(row) for row in rows]
    sure = [name for name in (judged.confidence_name(row) for row in rows) if name is not None]
    is_known = verdict.state in {State.WORKING, *IDLE}
    return Unit(
        verdict=verdict,
        rows=tuple(rows),
        coverage_pct=float(judged.coverage_pct[some].min()) if some else None,
        peak_pct=float(peaks[there].max()) if there.any() else None,
        mean_pct=float(means[there].mean()) if there.any() else None,
        signal=max((one for one in dict.fromkeys(signals) if one), key=signals.count, default=None),
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
