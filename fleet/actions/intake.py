"""Taking a reading in: devices, targets and intervals, timing, samples, hosts and owners.

One transaction per reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from common.errors import OutsideFailed
from common.periods import parse_duration
from fleet.actions.placements import join_hosts
from fleet.actions.registry import Registry, moment
from fleet.actions.samples import store_block
from fleet.actions.stays import place
from fleet.actions.uses import Uses
from fleet.domain import series as labels_of
from fleet.domain.placing import TargetFacts, all_points, host_runs, newest, owner_runs
from fleet.domain.runs import Run
from fleet.domain.samples import STEP_SECONDS, SampleBlock
from fleet.domain.series import Identity
from fleet.domain.slicing import Slice
from fleet.domain.telemetry import MetricsSource, RawSeries, Reading, Shard, Span
from fleet.domain.timing import (
    MAX_INTERVAL,
    MIN_INTERVAL,
    USUAL_INTERVAL,
    Gaps,
    count_gaps,
    learn_interval,
    time_samples,
    unite,
)
from fleet.models import Gpu, Source
from fleet.queries.samples import load_block

ASKED_FOR_GAPS = 20  # new targets whose last day is read to learn their interval
OTHER_SOURCE_SECONDS = 900


@dataclass
class Intake:
    """Takes the readings of one pull; counts what came."""

    source: Source
    registry: Registry
    outside: MetricsSource
    now: datetime
    is_backfill: bool
    count_after: int
    bad: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    written: int = 0
    minutes: float = 0.0
    expected_minutes: float = 0.0
    seen: set[int] = field(default_factory=set)
    newest: float = 0.0
    _up_asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._uses = Uses(self.source.pk)
        others = Source.objects.filter(is_enabled=True).exclude(pk=self.source.pk)
        self._others: dict[int | None, str] = dict(others.values_list("pk", "name"))
        declared = self.source.spec.get("scrape_interval")
        self._declared = int(parse_duration(str(declared), key="scrape_interval").total_seconds()) if declared else None

    def take(self, reading: Reading, piece: Slice) -> bool:
        """Take one reading in; tell whether it was whole."""
        self.warnings += [text for text in reading.warnings if text not in self.warnings]
        series: dict[int, list[RawSeries]] = {}
        for one in reading.series:
            if len(one.seen):
                series.setdefault(one.row, []).append(one)
                self.newest = max(self.newest, float(one.seen[-1]))
        self._ask_up(reading, piece)
        with transaction.atomic():
            with connection.cursor() as cursor:  # one reading at a time, whoever takes it in
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('fleet intake', 0))")
            rows = self._own_rows(reading, series, piece)
            if rows:
                self._take_rows(reading, series, rows, piece)
        self.bad.update(reading.bad)
        return not reading.is_partial

    def narrowed(self, piece: Slice, shard: Shard) -> Slice | None:
        """Leave out the first marks of a live slice that were read before and got no new point; None: nothing is left.

        The source counts points; where it counts more than are stored, late ones have come (or some were garbage).
        """
        marks = np.arange(piece.first, piece.last + 1, STEP_SECONDS)
        old = marks[marks <= self.count_after]
        if self.is_backfill or not len(old):
            return piece
        try:
            identities, points = self.outside.count_points(old, shard)
        except OutsideFailed:
            return piece  # reading it says what is wrong
        if self._timed_otherwise(set(identities), piece, shard):
            return piece
        late = self._late(identities, points, old)
        if late.any():
            return piece.starting_at(int(old[late][0]))
        return piece.starting_at(int(old[-1]) + STEP_SECONDS) if len(old) < len(marks) else None

    def _late(
        self, identities: list[Identity], points: NDArray[np.int32], marks: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Say for which marks the source counts more points than are stored."""
        known = [(row, gpu.id) for row, one in enumerate(identities) if (gpu := self.registry.gpus.get(one))]
        stored = np.zeros(points.shape, dtype=np.int32)
        if known:
            since = moment(float(marks[0]) - STEP_SECONDS)
            block = load_block([pk for _, pk in known], since, moment(float(marks[-1])))
            stored[np.array([row for row, _ in known], dtype=np.int64)] = block.points
        late: NDArray[np.bool_] = np.any(points > stored, axis=0)
        return late

    def _timed_otherwise(self, seen: set[Identity], piece: Slice, shard: Shard) -> bool:
        """Say whether the shard has a live device that the first choice of timing does not show (a MIG slice)."""
        since = piece.first - STEP_SECONDS
        return any(
            gpu.last_seen > since and identity not in seen and shard.holds(identity.uuid)
            for identity, gpu in self.registry.gpus.items()
            if gpu.source_id == self.source.pk
        )

    def end_slice(self, piece: Slice) -> None:
        """Write what the slice taught about targets."""
        self.registry.save_targets(until=piece.last)
        self._up_asked.clear()

    def _ask_up(self, reading: Reading, piece: Slice) -> None:
        """Read `up` of the scrape jobs of this reading and of those known, once per slice."""
        names = {one.target for one in reading.series if one.target} | {
            name for name in self.registry.targets if "/" in name
        }
        jobs = {name.partition("/")[0] for name in names if not name.startswith("GPU-")} - self._up_asked - {""}
        self.registry.ensure_targets({one.target for one in reading.series if one.target})
        if jobs:
            self._up_asked |= jobs
            self.registry.note_up(self.outside.read_up(jobs, Span(piece.first, piece.last, piece.raw_since)))

    def _own_rows(self, reading: Reading, series: Mapping[int, list[RawSeries]], piece: Slice) -> list[int]:
        """Give the rows to keep: with a label set, not read from another source already."""
        missing = {reading.identities[row].uuid for row in series if reading.identities[row] not in self.registry.gpus}
        if missing:
            self.registry.load_gpus(Gpu.objects.filter(uuid__in=missing))
        kept: list[int] = []
        others: Counter[int | None] = Counter()
        for row in sorted(series):
            gpu = self.registry.gpus.get(reading.identities[row])
            is_read = gpu is not None and gpu.last_seen >= piece.first - OTHER_SOURCE_SECONDS
            if gpu is not None and is_read and gpu.source_id in self._others:
                others[gpu.source_id] += 1
            else:
                kept.append(row)
        for other, count in others.items():
            text = f"duplicate_source: {count} GPUs are read from {self._others[other]} already"
            if text not in self.warnings:
                self.warnings.append(text)
        return kept

    def _take_rows(
        self, reading: Reading, series: Mapping[int, list[RawSeries]], rows: list[int], piece: Slice
    ) -> None:
        registry = self.registry
        keys = {row: registry.target_key(newest(series[row]), reading.identities[row]) for row in rows}
        registry.ensure_targets(
            {registry.target_key(one, reading.identities[row]) for row in rows for one in series[row]}
        )
        gaps = self._learn(reading, series, rows, piece)
        interval = self._intervals(reading, rows, keys, gaps)
        block = self._block(reading, series, rows, interval)
        keep = self._without_parents(reading, rows, block)
        rows = [row for row, good in zip(rows, keep, strict=True) if good]
        was_newest = self._newest(reading, rows, piece)
        registry.ensure_gpus(reading, series, rows)
        ids = {row: registry.gpus[reading.identities[row]].id for row in rows}
        spans = {ids[row]: float(interval[i, -1]) for i, row in enumerate(keys) if row in ids}
        labelled = {ids[row]: series[row] for row in rows}
        if self._take_labels(labelled, {ids[row]: was_newest[row] for row in rows}, spans, piece):
            join_hosts(now=self.now, gpu_ids=list(ids.values()))
        block = _select(block, keep, np.array([ids[row] for row in rows], dtype=np.int64))
        seen = (block.points > 0).any(axis=1)
        self.minutes += float(block.minutes.sum())
        self.expected_minutes += 5.0 * len(block.marks) * int(seen.sum())
        self.seen |= {int(gpu) for gpu in block.gpu_ids[seen]}
        stored = store_block(block)
        self.written += stored.written

    def _learn(
        self, reading: Reading, series: Mapping[int, list[RawSeries]], rows: Sequence[int], piece: Slice
    ) -> Mapping[str, Gaps]:
        """Count the gaps of this reading per target and add them to what the target knows."""
        since = float(piece.first - STEP_SECONDS)
        if not self.is_backfill:
            since = max(since, float(self.count_after))
        times: dict[str, list[NDArray[np.float64]]] = {}
        for row in rows:
            for one in series[row]:
                times.setdefault(self.registry.target_key(one, reading.identities[row]), []).append(one.seen)
        unknown = {name for name in times if not self.registry.targets[name].gaps}
        if not self.is_backfill and unknown:
            self._ask_gaps(times, unknown, piece)
            since_of = {name: piece.raw_since if name in unknown else since for name in times}
        else:
            since_of = dict.fromkeys(times, since)
        found = count_gaps(times, since_of)
        self.registry.learn({name: gaps for name, gaps in found.items() if gaps}, replace=self.is_backfill)
        return found

    def _ask_gaps(self, times: Mapping[str, list[NDArray[np.float64]]], unknown: set[str], piece: Slice) -> None:
        """Read the last day of a few new targets that are too slow to be learned from this window."""
        slow = [name for name in sorted(unknown) if "/" in name and max(map(len, times[name])) < 4]
        if slow:
            more = self.outside.read_gaps(slow[:ASKED_FOR_GAPS], int(piece.raw_since))
            wanted = {name: seen for name, seen in more.items() if name in unknown}
            self.registry.learn(count_gaps(wanted, dict.fromkeys(wanted, 0.0)), replace=False)

    def _intervals(
        self, reading: Reading, rows: Sequence[int], keys: Mapping[int, str], gaps: Mapping[str, Gaps]
    ) -> NDArray[np.int32]:
        """Give the interval of each row at each mark, seconds: declared, learned up to its hour, or the best guess."""
        shape = (len(rows), len(reading.marks))
        if self._declared is not None:
            return np.full(shape, min(max(self._declared, MIN_INTERVAL), MAX_INTERVAL), dtype=np.int32)
        hours = (reading.marks - 1) // 3600
        everything: Counter[int] = Counter()
        for found in gaps.values():
            for counts in found.values():
                everything.update(counts)
        common = learn_interval({0: everything}, 0, need=1)
        lines: dict[str, NDArray[np.int32]] = {}
        for name in set(keys.values()):
            lines[name] = self._line(name, hours, gaps.get(name, {}), common)
        return np.stack([lines[keys[row]] for row in rows])

    def _line(self, name: str, hours: NDArray[np.int64], found: Gaps, common: int | None) -> NDArray[np.int32]:
        target = self.registry.targets[name]
        total: Counter[int] = Counter()
        for counts in found.values():
            total.update(counts)
        guess = None if self.is_backfill else target.interval
        guess = guess or learn_interval({0: total}, 0, need=1) or common or target.interval or USUAL_INTERVAL
        known = {int(hour): learn_interval(target.gaps, int(hour)) or guess for hour in np.unique(hours)}
        return np.array([known[int(hour)] for hour in hours], dtype=np.int32)

    def _block(
        self, reading: Reading, series: Mapping[int, list[RawSeries]], rows: Sequence[int], interval: NDArray[np.int32]
    ) -> SampleBlock:
        """Give the samples of ``rows`` (GPU ids are filled in later)."""
        parts = [(i, one.at) for i, row in enumerate(rows) for one in series[row]]
        row = np.repeat([i for i, _ in parts], [len(at) for _, at in parts]).astype(np.int64)
        at = np.concatenate([at for _, at in parts]) if parts else np.zeros(0)
        first = [
            self.registry.gpus[reading.identities[r]].first_seen
            if reading.identities[r] in self.registry.gpus
            else np.nan
            for r in rows
        ]
        before = np.array(first, dtype=np.float64)
        timing = time_samples(unite(row, at), reading.marks, interval, before)
        pick = np.array(rows, dtype=np.int64)
        has = timing.points > 0
        return SampleBlock(
            gpu_ids=np.zeros(len(rows), dtype=np.int64),
            marks=reading.marks,
            points=timing.points,
            interval=np.where(has, interval, 0).astype(np.int32),
            first_at=timing.first_at,
            last_at=timing.last_at,
            minutes=timing.minutes,
            mean={signal: values[pick] for signal, values in reading.mean.items()},
            peak={signal: values[pick] for signal, values in reading.peak.items()},
        )

    def _without_parents(self, reading: Reading, rows: Sequence[int], block: SampleBlock) -> NDArray[np.bool_]:
        """Drop what a device says of itself while its MIG slices report: it would count twice.

        Tells which rows stay.
        """
        slices: dict[str, NDArray[np.bool_]] = {}
        for i, row in enumerate(rows):
            identity = reading.identities[row]
            if identity.mig:
                has = block.points[i] > 0
                slices[identity.uuid] = slices[identity.uuid] | has if identity.uuid in slices else has
        keep = np.ones(len(rows), dtype=bool)
        for i, row in enumerate(rows):
            identity = reading.identities[row]
            if not identity.mig and identity.uuid in slices:
                block.points[i][slices[identity.uuid]] = 0
                block.minutes[i][slices[identity.uuid]] = 0
                keep[i] = bool((block.points[i] > 0).any())
        return keep

    def _newest(self, reading: Reading, rows: Sequence[int], piece: Slice) -> dict[int, bool]:
        gpus = self.registry.gpus
        return {row: (gpu := gpus.get(reading.identities[row])) is None or gpu.last_seen <= piece.last for row in rows}

    def _take_labels(
        self,
        series: Mapping[int, list[RawSeries]],
        is_newest: Mapping[int, bool],
        interval: Mapping[int, float],
        piece: Slice,
    ) -> bool:
        """Write hosts and owners, everything by GPU id; tell whether a device is on another host."""
        exported = {
            one.target
            for found in series.values()
            for one in found
            if one.target and labels_of.text(one.labels, "exported_pod", "exported_namespace")
        }
        self.registry.hide_owners(exported)
        facts: dict[str, TargetFacts] = {name: target.facts for name, target in self.registry.targets.items()}
        hosts: dict[int, list[Run[str]]] = {}
        owners: dict[int, list[Run[labels_of.Owner]]] = {}
        for gpu, found in series.items():
            hosts[gpu] = host_runs(found, facts)
            owners[gpu] = owner_runs(found, facts, all_points(found), interval[gpu])
        since, until = float(piece.first - STEP_SECONDS), float(piece.last)
        is_moved = place(hosts, is_newest, since=since, until=until)
        self._uses.record(owners, is_newest, interval, since=since, until=until)
        return is_moved


def _select(block: SampleBlock, keep: NDArray[np.bool_], gpu_ids: NDArray[np.int64]) -> SampleBlock:
    """Give the kept rows under their GPU ids."""
    return SampleBlock(
        gpu_ids=gpu_ids,
        marks=block.marks,
        points=block.points[keep],
        interval=block.interval[keep],
        first_at=block.first_at[keep],
        last_at=block.last_at[keep],
        minutes=block.minutes[keep],
        mean={signal: values[keep] for signal, values in block.mean.items()},
        peak={signal: values[keep] for signal, values in block.peak.items()},
    )
