"""Meter: turn samples, idle runs, uses, states and owners into GPU-hours, hour by hour, only where something changed.

Two steps, each killable at any moment. *Plan* marks every hour that an instance has reached since the last pass.
*Meter* takes marks in chunks; a chunk's rows, its removed marks and the marks for billing are one transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction

from common.periods import floor_hour, odd_midnights
from fleet.actions.hour_rows import write_hours
from fleet.domain.gpu_hours import HourRows, meter_machine
from fleet.domain.metering import Coverage, cover, sample_states
from fleet.models import MeteredSpan
from fleet.queries.disks import disks_of
from fleet.queries.meter_facts import SeenGpus, load_idle, load_machines, milliseconds
from fleet.queries.meter_owners import load_owners
from fleet.queries.presence import Presence, presence
from fleet.queries.samples import load_block
from people.queries import organization_zone

HOUR = timedelta(hours=1)
WINDOW = timedelta(hours=24)
KEEP = timedelta(days=762)  # 25 months: no hour before that is metered
CHUNK = 40_000  # GPU-hours in one transaction, about
LONGEST_INTERVAL = timedelta(minutes=30)  # of a scrape: how far a sample may reach back over the end of an hour
LOCK = "fleet.meter"


@dataclass(frozen=True)
class MeterResult:
    """What a pass did; ``hours`` are instance-hours looked at, ``is_complete`` False when ``limit`` stopped it."""

    hours: int
    rows_written: int
    rows_removed: int
    is_complete: bool


def meter(
    *, now: datetime, limit: int | None = None, progress: Callable[[int, int], None] = lambda done, left: None
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
        progress(done, _marks_left(as_of))
    return MeterResult(done, written, removed, _marks_left(as_of) == 0)


def plan(*, now: datetime) -> datetime:
    """Mark the hours that instances have reached since they were last metered; give the time up to which to meter.

    That is ``now``, or what was metered already when ``now`` lies before it: hours are never cut shorter.
    """
    with transaction.atomic():
        _take_lock()
        known = {span.instance_id: span for span in MeteredSpan.objects.all()}
        as_of = max([now, *(span.until for span in known.values())])
        marks: list[tuple[int, datetime, datetime]] = []
        spans: list[MeteredSpan] = []
        for instance, (start, until) in _extents(as_of).items():
            start = max(start, now - KEEP)
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
        _mark_hours(marks)
        MeteredSpan.objects.bulk_create(
            spans, update_conflicts=True, unique_fields=["instance"], update_fields=["start", "until"],
            batch_size=2000
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


def _mark_hours(stretches: Sequence[tuple[int, datetime, datetime]]) -> None:
    """Mark every hour that overlaps one of ``stretches`` (instance, start, end)."""
    if not stretches:
        return
    instances, starts, ends = (list(column) for column in zip(*stretches, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO fleet_changedhour (instance_id, hour) SELECT s.instance, h.hour"
            " FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) s(instance, first, last)"
            " CROSS JOIN LATERAL generate_series(date_bin('1 hour', s.first, 'epoch'), s.last - interval '1 microsecond',"
            " interval '1 hour') h(hour) ON CONFLICT DO NOTHING",
            [instances, starts, ends],
        )


def _take_lock() -> None:
    """Let one chunk at a time be metered: two at once would only wait for each other's rows."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [LOCK])


def _marks_left(as_of: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM fleet_changedhour WHERE hour < %s", [as_of])
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def _take_marks(as_of: datetime) -> dict[int, list[datetime]]:
    """Take (and remove) the marks of one chunk: the oldest 24 hours, as many instances as a chunk holds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH first AS (SELECT min(hour) AS hour FROM fleet_changedhour WHERE hour < %(as_of)s),"
            " window_ AS (SELECT c.instance_id, count(*) AS hours FROM fleet_changedhour c, first"
            "  WHERE c.hour < least(first.hour + %(window)s, %(as_of)s) AND c.hour >= first.hour GROUP BY 1),"
            " sized AS (SELECT instance_id, sum(size) OVER (ORDER BY instance_id) - size AS before FROM (SELECT w.instance_id,"
            "  w.hours * greatest(i.gpu_count, (SELECT count(*) FROM fleet_gpu g WHERE g.instance_id = i.id), 1) AS size"
            "  FROM window_ w JOIN fleet_instance i ON i.id = w.instance_id) _)"
            " DELETE FROM fleet_changedhour c USING sized s, first WHERE s.before < %(chunk)s"
            "  AND c.instance_id = s.instance_id AND c.hour >= first.hour"
            "  AND c.hour < least(first.hour + %(window)s, %(as_of)s) RETURNING c.instance_id, c.hour",
            {"as_of": as_of, "window": WINDOW, "chunk": CHUNK},
        )
        taken: defaultdict[int, list[datetime]] = defaultdict(list)
        for instance, hour in cursor.fetchall():
            taken[instance].append(hour)
    return taken


def _meter_chunk(as_of: datetime) -> tuple[int, int, int] | None:
    """Meter one chunk; (instance-hours, rows written, rows removed), or None when nothing is marked."""
    with transaction.atomic():
        _take_lock()
        taken = _take_marks(as_of)
        if not taken:
            return None
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
        coverage = _load_coverage(gpus, since, until) if rows.pieces else None
        keys = [(instance, milliseconds(hour)) for instance, hours in taken.items() for hour in hours]
        written, removed = write_hours(keys, rows, rows.measured(coverage))
        return len(keys), written, removed


def _within(runs: Sequence[Presence], since: datetime, until: datetime) -> list[Presence]:
    return [run for run in runs if run.start < until and run.end > since]


def _load_coverage(gpus: SeenGpus, since: datetime, until: datetime) -> Coverage:
    """Lay out the samples of the window, and those after it that may reach back into it."""
    start = floor_hour(since)
    block = load_block(
        gpus.ids.tolist(), start, floor_hour(until - timedelta(microseconds=1)) + HOUR + LONGEST_INTERVAL
    )
    idle = load_idle(gpus.ids, block.marks)
    states = sample_states(block, is_idle=idle, is_mig=gpus.is_mig, memory_total_mib=gpus.memory_total_mib)
    return cover(block, states)
