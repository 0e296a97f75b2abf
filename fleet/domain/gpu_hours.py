"""GPU-hours from timelines: who held which device of an instance when, hour by hour, as rows and pieces to measure.

Times are epoch milliseconds, runs half-open. Per moment an instance has max(gpu_count, devices placed) devices: each
placed one has its own rows, those that no telemetry shows share one. So the rows of an instance-hour always sum to
devices x time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fleet.domain.metering import HOUR_MS, STATES, Coverage, Metered, Milliseconds, Pieces, measure

GPU_HOURS_KEPT = timedelta(days=762)  # 25 months, and no hour before that is metered
STOPPED = STATES  # the column after the measured states


class Run(NamedTuple):
    """A stretch of time with what holds in it."""

    start: int
    end: int
    is_running: bool


class Use(NamedTuple):
    """A job on a GPU."""

    start: int
    end: int
    job: int


class Version(NamedTuple):
    """What an instance was from ``start`` on; ``gpu_count`` None: as many as are seen, at least one."""

    start: int
    gpu_count: int | None
    gpu_model: str


@dataclass(frozen=True)
class Member:
    """A whole GPU, or one slice of it, on an instance for a time. ``slice_weight``: its memory; 0: a whole GPU.

    ``gpu`` is its row id, ``row`` that of the coverage.
    """

    gpu: int
    row: int
    start: int
    end: int
    slice_weight: int
    model: str
    uses: Sequence[Use] = ()


@dataclass(frozen=True)
class Machine:
    """One instance with all that metering must know; runs and versions in order of time."""

    instance: int
    runs: Sequence[Run]  # while it exists; what lies between is taken as not running
    versions: Sequence[Version]  # at least one, from before the first run
    devices: Sequence[Sequence[Member]]  # per physical GPU


class Share(NamedTuple):
    """Who a stretch of GPU time is for."""

    job: int | None
    team: int | None
    owner: str
    part_start_minute: int


OwnerOf = Callable[[int, int | None, int], tuple[int | None, str]]
"""(instance, job or None, time) -> (team or None, owner)."""


@dataclass
class HourRows:
    """Rows in the making, column by column, and the pieces whose time is still to be measured."""

    hour: list[int] = field(default_factory=list)
    instance: list[int] = field(default_factory=list)
    gpu: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)  # of the share within the GPU's hour
    share: list[Share] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    fixed: list[tuple[int, int, int]] = field(default_factory=list)  # (row, column, ms)
    pieces: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)  # (row, *fields of Pieces)

    def measured(self, coverage: Coverage | None) -> Milliseconds:
        """Give the time [R, 6] of each row: the measured states and, last, stopped."""
        times = np.zeros((len(self.hour), STATES + 1), dtype=np.int64)
        if self.pieces:
            assert coverage is not None, "pieces of seen GPUs need their samples"
            table = np.array(self.pieces, dtype=np.int64)
            spent = measure(coverage, Pieces(*table[:, 1:].T))
            np.add.at(times[:, :STATES], table[:, 0], spent)
        if self.fixed:
            rows, columns, amounts = np.array(self.fixed, dtype=np.int64).T
            np.add.at(times, (rows, columns), amounts)
        return times


def meter_machine(
    machine: Machine,
    hours: Iterable[int],
    *,
    until: int,
    midnights: Sequence[int],
    changes: Sequence[int],
    owner_of: OwnerOf,
    rows: HourRows,
) -> None:
    """Add the rows of ``machine`` for ``hours`` (their starts), as of ``until``.

    ``midnights`` are those of the organisation's zone that do not fall on a whole hour; ``changes`` other moments at
    which owners may change (rules). An hour in which the instance does not exist gets no rows.
    """
    for hour in hours:
        end = min(hour + HOUR_MS, until)
        runs = [run for run in machine.runs if run.start < end and run.end > hour]
        if runs:
            _Hour(
                machine, hour, end, runs=runs, midnights=midnights, changes=changes, owner_of=owner_of, rows=rows
            ).add()


class _Hour:
    """One instance-hour."""

    def __init__(
        self,
        machine: Machine,
        start: int,
        end: int,
        *,
        runs: Sequence[Run],
        midnights: Sequence[int],
        changes: Sequence[int],
        owner_of: OwnerOf,
        rows: HourRows,
    ) -> None:
        self.machine, self.start, self.end, self.owner_of, self.rows = machine, start, end, owner_of, rows
        self.midnight = next((at for at in midnights if start < at < end), None)
        cuts = {start, end, *(at for run in runs for at in (run.start, run.end)), *changes, *midnights}
        cuts.update(version.start for version in machine.versions)
        bounds = sorted(at for at in cuts if start <= at <= end)
        self.spans = [
            (a, b, any(run.is_running and run.start <= a < run.end for run in runs), self._version(a))
            for a, b in pairwise(bounds)
        ]
        self.numbers: dict[int, dict[Share, int]] = {}

    def _version(self, at: int) -> Version:
        """Give the version in force at ``at``; before the first one, that."""
        versions = self.machine.versions
        return next((one for one in reversed(versions) if one.start <= at), versions[0])

    def add(self) -> None:
        """Add the rows of this hour."""
        if not any(running for _, _, running, _ in self.spans):
            for a, b, _, version in self.spans:
                self._fixed(0, self._share(None, a), version.gpu_model, STOPPED, (b - a) * self._devices(version, a))
            return
        for device in self.machine.devices:
            self._add_device(device)
        self._add_unseen()

    def _placed(self, at: int) -> int:
        return sum(any(member.start <= at < member.end for member in device) for device in self.machine.devices)

    def _devices(self, version: Version, at: int) -> int:
        """Give how many devices the instance has; one of which nothing is known still costs what it costs."""
        return version.gpu_count if version.gpu_count is not None else max(self._placed(at), 1)

    def _add_unseen(self) -> None:
        """Add what is missing to ``gpu_count``: one row per share, unknown or stopped."""
        edges = {
            at
            for device in self.machine.devices
            for member in device
            for at in (member.start, member.end)
            if self.start < at < self.end
        }
        for a, b, running, version in self.spans:
            bounds = sorted({a, b, *(at for at in edges if a < at < b)})
            for c, d in pairwise(bounds):
                unseen = self._devices(version, c) - self._placed(c)
                if unseen > 0:
                    column = Metered.UNKNOWN if running else STOPPED
                    self._fixed(0, self._share(None, c), version.gpu_model, column, (d - c) * unseen)

    def _add_device(self, device: Sequence[Member]) -> None:
        """Add a GPU: as a whole, or by the slices that it is cut into at each moment."""
        here = [member for member in device if member.start < self.end and member.end > self.start]
        edges = sorted({at for one in here for at in (one.start, one.end) if self.start < at < self.end})
        for a, b, running, version in self.spans:
            bounds = [a, *(at for at in edges if a < at < b), b]
            for c, d in pairwise(bounds):
                present = [one for one in here if one.start <= c < one.end]
                slices = [one for one in present if one.slice_weight]
                low, parts = 0, sum(one.slice_weight for one in slices) or 1
                for member in slices or present[:1]:
                    high = low + (member.slice_weight or 1)
                    self._add_member(member, (c, d, running, version), low, high, parts)
                    low = high

    def _add_member(
        self, member: Member, span: tuple[int, int, bool, Version], low: int, high: int, parts: int
    ) -> None:
        """Add one GPU or slice over one span, divided equally among the jobs that hold it at each moment."""
        a, b, running, version = span
        model = member.model or version.gpu_model
        uses = [use for use in member.uses if use.start < b and use.end > a]
        bounds = [a, b]
        if uses:
            bounds = sorted({a, b, *(at for use in uses for at in (use.start, use.end) if a < at < b)})
        for c, d in pairwise(bounds):
            jobs: Sequence[int | None] = sorted({use.job for use in uses if use.start <= c < use.end}) or [None]
            for index, job in enumerate(jobs):
                row = self._row(member.gpu, self._share(job, c), model)
                count = len(jobs)
                lowest = low * count + (high - low) * index
                highest, all_parts = lowest + high - low, parts * count
                if running:
                    self.rows.pieces.append((row, member.row, c, d, lowest, highest, all_parts))
                else:
                    first, last = c - self.start, d - self.start
                    due = (last * highest // all_parts - last * lowest // all_parts) - (
                        first * highest // all_parts - first * lowest // all_parts
                    )
                    self.rows.fixed.append((row, STOPPED, due))

    def _share(self, job: int | None, at: int) -> Share:
        team, owner = self.owner_of(self.machine.instance, job, at)
        after = self.midnight is not None and at >= self.midnight
        return Share(job, team, owner, (self.midnight - self.start) // 60_000 if after and self.midnight else 0)

    def _fixed(self, gpu: int, share: Share, model: str, column: int, amount: int) -> None:
        if amount:
            self.rows.fixed.append((self._row(gpu, share, model), column, amount))

    def _row(self, gpu: int, share: Share, model: str) -> int:
        """Give the number of the row of this share, which is made on its first use."""
        shares = self.numbers.setdefault(gpu, {})
        if share not in shares:
            shares[share] = len(self.rows.hour)
            self.rows.hour.append(self.start)
            self.rows.instance.append(self.machine.instance)
            self.rows.gpu.append(gpu)
            self.rows.number.append(len(shares) - 1)
            self.rows.share.append(share)
            self.rows.model.append(model)
        return shares[share]
