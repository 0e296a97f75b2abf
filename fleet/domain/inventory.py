"""What an account's inventory says of an instance, and the runs of provider states that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from common.periods import BEGINNING


class ProviderState(StrEnum):
    """The provider's word on an instance."""

    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    STOPPED_BILLED = "stopped_billed"
    TERMINATED = "terminated"
    GONE = "gone"  # no longer there, or a host that an account has claimed since


ENDED = frozenset({ProviderState.TERMINATED, ProviderState.GONE})
RUNS = frozenset({ProviderState.RUNNING, ProviderState.STOPPING})
"""In these it may hold work and is billed as running."""


@dataclass(frozen=True)
class StateRun:
    """A run of one state: half-open; the last one has no end."""

    start: datetime
    end: datetime | None
    state: ProviderState


@dataclass(frozen=True)
class ObservedInstance:
    """An instance as its account lists it. ``host`` is in lower case; unknown is None or empty, never a guess.

    ``attributes`` hold provider, region, sku, gpu_model, gpu_count, purchase_option, profile, local_disk, disks,
    protected, group, owner, sub_account, tags, labels, host. ``history`` is (at, state) in order of time.
    ``change_from``: since when what differs from before holds, when the listing itself says so. ``instance_id`` (row)
    and ``effective_from`` are filled by the sync: BEGINNING for an instance seen first, else since when a change holds.
    """

    external_id: str
    host: str
    state: ProviderState
    launched_at: datetime | None = None
    last_started_at: datetime | None = None
    stopped_at: datetime | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    price_per_hour: Decimal | None = None
    currency: str = ""  # empty: the organisation's
    history: Sequence[tuple[datetime, ProviderState]] = ()
    change_from: datetime | None = None
    instance_id: int | None = None
    effective_from: datetime = BEGINNING


def runs_from_history(observed: ObservedInstance) -> list[StateRun]:
    """Give the runs that a written history tells; from the launch to its first entry the instance ran."""
    points = list(observed.history)
    if observed.launched_at and observed.launched_at < points[0][0]:
        points.insert(0, (observed.launched_at, ProviderState.RUNNING))
    runs: list[StateRun] = []
    for index, (at, state) in enumerate(points):
        end = points[index + 1][0] if index + 1 < len(points) else None
        runs.append(StateRun(at, end, state))
    return runs


def first_runs(observed: ObservedInstance) -> list[StateRun]:
    """Give the runs of an instance that is listed for the first time.

    Only what the listing says is told: between a launch and a later start nothing is known; a stop without a time is
    taken to have been there from the launch on, so nothing is billed on a guess.
    """
    if observed.history:
        return runs_from_history(observed)
    launched, started, stopped = observed.launched_at, observed.last_started_at, observed.stopped_at
    if observed.state in RUNS:
        return [StateRun(started or launched or BEGINNING, None, observed.state)]
    if stopped is None:
        return [StateRun(launched or BEGINNING, None, observed.state)]
    ran_from = started or launched
    before = [StateRun(ran_from, stopped, ProviderState.RUNNING)] if ran_from and ran_from < stopped else []
    return [*before, StateRun(stopped, None, observed.state)]


def next_runs(known: Sequence[StateRun], observed: ObservedInstance, at: datetime) -> list[StateRun]:
    """Give all runs of an instance that was known before: ``known`` (in order of time) with what changed by ``at``.

    A written history replaces what was known. Else the newest run ends where the listing says that the new state began,
    if it says so and that is later than the run's own start; if not, at ``at``.
    """
    if observed.history:
        return runs_from_history(observed)
    if not known:
        return first_runs(observed)
    last = known[-1]
    told = observed.last_started_at if observed.state in RUNS else observed.stopped_at
    restarted = observed.state in RUNS and last.state in RUNS and told is not None and last.start < told <= at
    if observed.state == last.state and not restarted:
        return list(known)
    change_at = told if told and last.start < told <= at else max(at, last.start)
    kept = [run for run in known if run.start < change_at]
    if kept:
        kept[-1] = StateRun(kept[-1].start, change_at, kept[-1].state)
    return [*kept, StateRun(change_at, None, observed.state)]


def state_at(runs: Sequence[StateRun], at: datetime) -> StateRun | None:
    """Give the run that holds ``at``; None before the first one."""
    return next((run for run in reversed(runs) if run.start <= at and (run.end is None or at < run.end)), None)


def first_difference(old: Sequence[StateRun], new: Sequence[StateRun]) -> datetime | None:
    """Give the first moment at which two lists of runs tell different states; None if they never do."""
    for a, b in zip(old, new, strict=False):
        if a == b:
            continue
        if a.start == b.start and a.state == b.state:
            return min(end for end in (a.end, b.end) if end is not None)
        return min(a.start, b.start)
    longer = old if len(old) > len(new) else new
    return longer[min(len(old), len(new))].start if len(old) != len(new) else None


def last_start(runs: Sequence[StateRun], at: datetime) -> datetime | None:
    """Give the start of the newest run of `running` up to ``at``; None: never, or not known since when."""
    starts = [run.start for run in runs if run.state is ProviderState.RUNNING and run.start <= at]
    return starts[-1] if starts and starts[-1] > BEGINNING else None
