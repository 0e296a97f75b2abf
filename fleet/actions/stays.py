"""Where devices stood: placements by host, kept as runs; a pull replaces what it saw and leaves the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

from fleet.actions.registry import moment
from fleet.actions.samples import mark_changed
from fleet.domain.runs import Run, replace_window
from fleet.models import GpuPlacement


@dataclass
class _Changes:
    """Placements to be written."""

    new: list[GpuPlacement] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    moved: list[GpuPlacement] = field(default_factory=list)


@dataclass(frozen=True)
class _Row:
    """A stored placement; times in epoch seconds."""

    id: int
    host: str
    start: float
    end: float | None


def place(found: Mapping[int, Sequence[Run[str]]], newest: Mapping[int, bool], *, since: float, until: float) -> bool:
    """Write the host runs of devices (``found``: GPU id -> runs within the window ``[since, until]``).

    ``newest``: whether the window holds the device's newest data. Rows that are split by instance stay split.
    Tells whether anything changed.
    """
    inside = {
        gpu: [Run(run.key, max(run.start, since), run.end) for run in runs if run.end is None or run.end > since]
        for gpu, runs in found.items()
    }
    standing = {gpu: runs[0].key for gpu, runs in inside.items() if len(runs) == 1 and runs[0].end is None}
    settled = _settled(standing, since)
    stored: dict[int, list[_Row]] = {}
    left = [gpu for gpu in inside if gpu not in settled]
    rows = GpuPlacement.objects.filter(gpu_id__in=left).order_by("start")
    for gpu, pk, host, start, end in rows.values_list("gpu_id", "id", "host", "start", "end"):
        stored.setdefault(gpu, []).append(_Row(pk, host, start.timestamp(), end.timestamp() if end else None))
    changes = _Changes()
    touched: list[int] = []
    for gpu in left:
        old, runs = stored.get(gpu, []), inside[gpu]
        known = [Run(row.host, row.start, row.end) for row in old]
        wanted = replace_window(known, runs, since=since, until=until, is_newest=newest[gpu], tolerance=1.0)
        touched.append(gpu)
        _reconcile(gpu, old, _without_overlaps(wanted), changes)
    if changes.gone or changes.moved:  # the instances where they stood until now have to be metered again, too
        hours = range(int(since) // 3600 * 3600, int(until) + 1, 3600)
        mark_changed([gpu for gpu in touched for _ in hours], [hour for _ in touched for hour in hours])
    GpuPlacement.objects.filter(pk__in=changes.gone).delete()
    GpuPlacement.objects.bulk_update(changes.moved, ["start", "end"], batch_size=1000)
    GpuPlacement.objects.bulk_create(changes.new, batch_size=5000)
    _name_hosts(found, newest)
    return bool(changes.new or changes.gone or changes.moved)


def _settled(found: Mapping[int, str], since: float) -> set[int]:
    """Give the devices (GPU id -> host) whose open placement already says what was found since ``since``.

    Those are nearly all of them, nearly always.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT placement.gpu_id
            FROM unnest(%s::bigint[], %s::text[]) AS found (gpu_id, host)
            JOIN fleet_gpuplacement placement ON placement.gpu_id = found.gpu_id
            WHERE placement."end" IS NULL AND placement.host = found.host
              AND placement.start <= to_timestamp(%s)
            """,
            [list(found), list(found.values()), since],
        )
        return {gpu for (gpu,) in cursor.fetchall()}


def _without_overlaps(runs: Iterable[Run[str]]) -> list[Run[str]]:
    """End a run where the next one starts: a device stands on one host at a time.

    Gaps belong to the host before them.
    """
    ordered = sorted(runs, key=lambda run: run.start)
    kept: list[Run[str]] = []
    for run in ordered:
        if kept and kept[-1].key == run.key:
            kept[-1] = Run(run.key, kept[-1].start, run.end)
            continue
        if kept:
            kept[-1] = Run(kept[-1].key, kept[-1].start, run.start)
        kept.append(run)
    if kept:
        kept[-1] = Run(kept[-1].key, kept[-1].start, None)
    return kept


def _reconcile(gpu: int, old: Sequence[_Row], wanted: Sequence[Run[str]], changes: _Changes) -> None:
    """Note what has to change so that the stored rows say what is wanted; rows split by instance stay split."""
    left = {row.id: row for row in old}
    for run in wanted:
        end = float("inf") if run.end is None else run.end
        same = [
            row
            for row in left.values()
            if row.host == run.key and row.start < end and (row.end is None or row.end > run.start)
        ]
        if not same:
            changes.new.append(GpuPlacement(gpu_id=gpu, host=run.key, start=moment(run.start), end=_at(run.end)))
            continue
        for place, row in enumerate(same):
            start = run.start if place == 0 else row.start
            until = run.end if place == len(same) - 1 else row.end
            if (start, until) != (row.start, row.end):
                changes.moved.append(
                    GpuPlacement(pk=row.id, gpu_id=gpu, host=row.host, start=moment(start), end=_at(until))
                )
            del left[row.id]
    changes.gone += left


def _at(seconds: float | None) -> datetime | None:
    return None if seconds is None else moment(seconds)


def _name_hosts(found: Mapping[int, Sequence[Run[str]]], newest: Mapping[int, bool]) -> None:
    """Write the present host of devices whose newest data this is."""
    now = {gpu: runs[-1].key for gpu, runs in found.items() if runs and newest[gpu]}
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE fleet_gpu SET host = now.host FROM unnest(%s::bigint[], %s::text[]) AS now (id, host)"
            " WHERE fleet_gpu.id = now.id AND fleet_gpu.host <> now.host",
            [list(now), list(now.values())],
        )
