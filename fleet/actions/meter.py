"""Meter: turn samples, idle runs, uses, states and owners into GPU-hours, hour by hour, only where something changed.

Two steps, each killable at any moment. *Plan* marks every hour that an instance has reached since the last pass.
*Meter* takes marks in chunks; a chunk's rows, its removed marks and the marks for billing are one transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from common.periods import floor_hour, odd_midnights
from fleet.actions.hour_marks import mark_stretches, marks_left, take_lock, take_marks
from fleet.actions.hour_rows import write_hours
from fleet.domain.gpu_hours import GPU_HOURS_KEPT, HourRows, Machine, meter_machine
from fleet.domain.metering import Coverage, cover, reaches_back, sample_states
from fleet.models import MeteredSpan
from fleet.queries.disks import disks_of
from fleet.queries.gpu_hours import hours_of_lost_samples
from fleet.queries.meter_facts import SeenGpus, load_idle, load_machines, milliseconds
from fleet.queries.meter_owners import load_owners
from fleet.queries.presence import Presence, presence
from fleet.queries.samples import load_block
from people.queries import organization_zone

HOUR = timedelta(hours=1)
WINDOW = timedelta(hours=24)
CHUNK = 40_000  # GPU-hours in one transaction, about
LONGEST_INTERVAL = timedelta(minutes=30)  # of a scrape: how far a sample may reach back over the end of an hour


@dataclass(frozen=True)
class MeterResult:
    """What a pass did; ``hours`` are instance-hours looked at, ``is_complete`` False when ``limit`` stopped it."""

    hours: int
    rows_written: int
    rows_removed: int
    is_complete: bool


def meter(
    *, now: datetime, limit: int | None = None, progress: Callable[[int, int], None] | None = None
) -> MeterResult:
    """Meter every hour up to ``now`` since each instance's first sample or known state, and all that changed since.

    The hour that is going on is metered up to ``now`` and again by the next pass. ``limit`` bounds the
    instance-hours of this call (some chunk more); ``progress`` is told instance-hours done and left after each chunk.
    """
    as_of = plan(now=now)
    done = written = removed = 0
    while limit is None or done < limit:
        chunk = _meter_chunk(as_of)
        if chunk is None:
            return MeterResult(done, written, removed, True)
        done, written, removed = done + chunk[0], written + chunk[1], removed + chunk[2]
        if progress is not None:
            progress(done, marks_left(as_of))
    return MeterResult(done, written, removed, marks_left(as_of) == 0)


def plan(*, now: datetime) -> datetime:
    """Mark the hours that instances have reached since they were last metered; give the time up to which to meter.

    That is ``now``, or what was metered already when ``now`` lies before it: hours are never cut shorter.
    """
    with transaction.atomic():
        take_lock()
        known = {span.instance_id: span for span in MeteredSpan.objects.all()}
        as_of = max([now, *(span.until for span in known.values())])
        marks: list[tuple[int, datetime, datetime]] = []
        spans: list[MeteredSpan] = []
        for instance, (start, until) in _extents(as_of).items():
            start = max(start, now - GPU_HOURS_KEPT)
            span = known.get(instance)
            if until <= start:
                continue
            if span is None:
                marks.append((instance, start, until))
                spans.append(MeteredSpan(instance_id=instance, start=start, until=until))
                continue
            if start < span.start:
                marks.append((instance, start, span.start))
            if until > span.until:
                marks.append((instance, span.until, until))
            if start < span.start or until > span.until:
                spans.append(
                    MeteredSpan(instance_id=instance, start=min(start, span.start), until=max(until, span.until))
                )
        mark_stretches(marks)
        MeteredSpan.objects.bulk_create(
            spans, update_conflicts=True, unique_fields=["instance"], update_fields=["start", "until"], batch_size=2000
        )
    return as_of


def _extents(as_of: datetime) -> dict[int, tuple[datetime, datetime]]:
    """Give the time in which each instance, or a disk of it, exists up to ``as_of``."""
    runs = presence(None, until=as_of)
    extents = {instance: (own[0].start, own[-1].end) for instance, own in runs.items()}
    for instance, disks in disks_of(runs, until=as_of).items():
        bounds = [*extents.get(instance, ()), *(at for disk in disks for at in (disk.start, disk.end))]
        extents[instance] = (min(bounds), max(bounds))
    return extents


def _meter_chunk(as_of: datetime) -> tuple[int, int, int] | None:
    """Meter one chunk; (instance-hours, rows written, rows removed), or None when nothing is marked."""
    with transaction.atomic():
        take_lock()
        taken = take_marks(as_of, window=WINDOW, gpu_hours=CHUNK)
        if not taken:
            return None
        written, removed, touched = _meter_hours(taken, as_of)
        before: defaultdict[int, list[datetime]] = defaultdict(list)
        for instance, hour in touched:
            if hour not in taken[instance]:
                before[instance].append(hour)
        if before:
            more = _meter_hours(before, as_of)
            written, removed = written + more[0], removed + more[1]
        count = sum(len(hours) for hours in (*taken.values(), *before.values()))
        return count, written, removed


def _meter_hours(
    taken: Mapping[int, Sequence[datetime]], as_of: datetime
) -> tuple[int, int, set[tuple[int, datetime]]]:
    """Meter these hours of instances; (rows written, rows removed, hours before them that their samples reach into)."""
    lost = hours_of_lost_samples([(instance, hour) for instance, hours in taken.items() for hour in hours])
    if lost:
        kept = {instance: [hour for hour in hours if (instance, hour) not in lost] for instance, hours in taken.items()}
        taken = {instance: hours for instance, hours in kept.items() if hours}
        if not taken:
            return 0, 0, set()
    since = min(min(hours) for hours in taken.values())
    until = min(max(max(hours) for hours in taken.values()) + HOUR, as_of)
    found = presence(list(taken), until=as_of)
    here = {instance: _within(found.get(instance, ()), since, until) for instance in taken}
    machines, gpus = load_machines(here, since=since, until=until)
    jobs = {use.job for one in machines for device in one.devices for member in device for use in member.uses}
    owners = load_owners(list(taken), since=since, until=until, job_ids=jobs)
    midnights = [milliseconds(at) for at in odd_midnights(organization_zone(), since, until)]
    rows = HourRows()
    for machine in machines:
        meter_machine(
            machine,
            sorted(milliseconds(hour) for hour in taken[machine.instance]),
            until=milliseconds(until),
            midnights=midnights,
            changes=owners.changes(machine.instance),
            owner_of=owners.owner_of,
            rows=rows,
        )
    coverage = _load_coverage(gpus, since, until, as_of) if rows.pieces else None
    keys = [(instance, milliseconds(hour)) for instance, hours in taken.items() for hour in hours]
    written, removed = write_hours(keys, rows, rows.measured(coverage))
    return written, removed, _reached(machines, taken, coverage) if coverage else set()


def _reached(
    machines: Sequence[Machine], taken: Mapping[int, Sequence[datetime]], coverage: Coverage
) -> set[tuple[int, datetime]]:
    """Give the (instance, hour) before the taken ones into which their samples reach: slow or uneven scrapes."""
    every = {hour for hours in taken.values() for hour in hours}
    flags = {hour: reaches_back(coverage, milliseconds(hour)) for hour in every}
    if not any(own.any() for own in flags.values()):
        return set()
    found: set[tuple[int, datetime]] = set()
    for machine in machines:
        rows = [member.row for device in machine.devices for member in device]
        for hour in taken[machine.instance]:
            if flags[hour][rows].any():
                found.add((machine.instance, hour - HOUR))
    return found


def _within(runs: Sequence[Presence], since: datetime, until: datetime) -> list[Presence]:
    return [run for run in runs if run.start < until and run.end > since]


def _load_coverage(gpus: SeenGpus, since: datetime, until: datetime, as_of: datetime) -> Coverage:
    """Lay out the samples of the window, and those after it, up to ``as_of``, that may reach back into it."""
    start, end = floor_hour(since), floor_hour(until - timedelta(microseconds=1)) + HOUR
    block = load_block(gpus.ids.tolist(), start, max(end, min(end + LONGEST_INTERVAL, as_of)))
    block.points[:, block.marks > as_of.timestamp()] = 0
    states = sample_states(block, gpus.facts, is_idle=load_idle(gpus.ids, block.marks))
    return cover(block, states)
