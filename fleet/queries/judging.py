"""Verdicts of every GPU, instance and job at a mark, from where the folds stand. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fleet.domain.carry import DTYPE, Carry
from fleet.domain.evidence import CONFIDENCES, Evidence, gather
from fleet.domain.idle import REASONS, STATES, Track
from fleet.domain.idle_rule import NEVER, IdleRule, Numbers
from fleet.domain.quiet import ACTIVITY
from fleet.domain.states import IDLE, State
from fleet.domain.units import GpuVerdict, MachineFacts, UnitVerdict, judge_instance, judge_job
from fleet.queries.fleet_at import FleetAt, Machine, Workload
from fleet.queries.folding import Piece, covered_minutes, fold

Rows = NDArray[np.int64]
StartsOf = Callable[[IdleRule, Rows], Iterable[tuple[Rows, Carry]]]


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
    """An instance or job as judged: over the GPUs ``rows``. ``minutes`` are covered idle ones, None while not idle."""

    verdict: UnitVerdict
    rows: tuple[int, ...]
    coverage_pct: float | None
    peak_pct: float | None
    mean_pct: float | None
    signal: str | None
    confidence: str | None
    minutes: float | None


def judge_gpus(fleet: FleetAt, starts_of: StartsOf) -> Judged:
    """Fold every GPU by its instance's rule, from where ``starts_of`` (rule, rows) says, to the mark."""
    judged = blank(fleet)
    for rule, group in fleet.rule_groups().items():
        for start in starts_of(rule, np.array(group, dtype=np.int64)):
            for piece in fold(fleet, start, rule, fleet.mark):
                fill(judged, fleet, rule, piece)
    return judged


def blank(fleet: FleetAt) -> Judged:
    count = len(fleet.gpus)
    zeros = np.zeros(count, dtype=np.int8)
    nothing = np.full(count, np.nan)
    return Judged(
        state=zeros.copy(), reason=zeros.copy(), window_seconds=np.zeros(count, dtype=np.int64),
        coverage_pct=nothing.copy(), peak_pct=nothing.copy(), mean_pct=nothing.copy(), signal=zeros - 1, points=np.zeros(count, dtype=np.int64),
        memory=zeros.copy(), confidence=zeros.copy(), fold=np.zeros(count, dtype=DTYPE),
    )  # fmt: skip


def fill(judged: Judged, fleet: FleetAt, rule: IdleRule, piece: Piece) -> None:
    """Put down what a piece says of its GPUs, if it ends at the fleet's mark."""
    if piece.track.marks[-1] == fleet.mark:
        _write(judged, piece.rows, piece.track, gather(piece.block, piece.facts, rule, piece.track))


def _write(judged: Judged, rows: Rows, track: Track, evidence: Evidence) -> None:
    for name in ("state", "reason", "window_seconds", "coverage_pct"):
        getattr(judged, name)[rows] = getattr(track, name)[:, -1]
    for name in ("peak_pct", "mean_pct", "signal", "points", "memory", "confidence"):
        getattr(judged, name)[rows] = getattr(evidence, name)
    judged.fold[rows] = track.carry.rows


def judge_machines(fleet: FleetAt, judged: Judged) -> dict[int, Unit]:
    """Judge every instance, by row id; idle minutes are left for `with_minutes`."""
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
        minutes=_same_minutes(judged, rows, verdict),
    )


def _same_minutes(judged: Judged, rows: Sequence[int], verdict: UnitVerdict) -> float | None:
    """The idle minutes when all GPUs are idle since the same time; None when samples have to be asked."""
    if verdict.state not in IDLE or any(judged.fold["since"][row] != verdict.since for row in rows):
        return None
    return float(min(judged.fold["minutes"][row] for row in rows))


def idle_minutes(fleet: FleetAt, units: Sequence[Unit]) -> list[float | None]:
    """The covered idle minutes of each unit: the smallest over its GPUs since its `since`; None while not idle."""
    asked: list[tuple[int, float]] = []
    owners: list[int] = []
    for place, unit in enumerate(units):
        if unit.verdict.since is not None and unit.minutes is None and unit.verdict.state in IDLE:
            asked += [(row, unit.verdict.since) for row in unit.rows]
            owners += [place] * len(unit.rows)
    found: dict[int, float] = {}
    for place, minutes in zip(owners, covered_minutes(fleet, asked, fleet.mark), strict=True):
        found[place] = min(found.get(place, minutes), minutes)
    return [unit.minutes if unit.minutes is not None else found.get(place) for place, unit in enumerate(units)]


def rows_of(unit: Machine | Workload) -> tuple[int, ...]:
    """The GPUs (row numbers) of an instance or a job."""
    return unit.members if isinstance(unit, Machine) else unit.gpus
