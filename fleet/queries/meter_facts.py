"""What metering must know of a set of instances over a window, loaded in a few set-based reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from common.periods import EPOCH
from fleet.domain.gpu_hours import Machine, Member, Run, Use, Version
from fleet.domain.idle_rule import GpuFacts, facts_of
from fleet.domain.metering import Flags, mark_runs
from fleet.queries.power import NEEDS_BASELINE, baselines_of
from fleet.queries.presence import Presence

FOR_EVER = 1 << 62


def milliseconds(moment: datetime) -> int:
    """Give epoch milliseconds, rounded down."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


@dataclass(frozen=True)
class SeenGpus:
    """The GPUs that stood on the instances within the window; ``ids`` [G] sorted, ``facts`` in that order."""

    ids: NDArray[np.int64]
    facts: GpuFacts


def load_machines(
    presences: Mapping[int, Sequence[Presence]], *, since: datetime, until: datetime
) -> tuple[list[Machine], SeenGpus]:
    """Give the instances of ``presences``: what they were, which GPUs stood there, who used them in the window."""
    ids = list(presences)
    versions = _versions(ids, until)
    placed = _placements(ids, since, until)
    gpus = sorted({row[1] for row in placed})
    rows = {gpu: row for row, gpu in enumerate(gpus)}
    uses = _uses(gpus, since, until)
    devices: defaultdict[int, defaultdict[str, list[Member]]] = defaultdict(lambda: defaultdict(list))
    facts: dict[int, tuple[bool, str, str, float, float]] = {}
    last_seen: dict[int, int] = {}
    for instance, gpu, uuid, mig, start, end, model, vendor, memory, limit, seen_at in placed:
        weight = (memory or 1) if mig else 0  # slices are parts of their device, by their memory
        member = Member(gpu, rows[gpu], start, end, weight, model, uses.get(gpu, ()))
        devices[instance][uuid].append(member)
        facts[gpu] = (bool(mig), vendor, model, *(np.nan if one is None else one for one in (memory, limit)))
        last_seen[gpu] = seen_at
    machines = [
        Machine(
            instance,
            [Run(milliseconds(run.start), milliseconds(run.end), run.is_running) for run in presences[instance]],
            versions.get(instance) or [Version(0, None, "")],
            _within_count(list(devices[instance].values()), versions.get(instance, ()), last_seen, since),
        )
        for instance in ids
    ]
    return machines, SeenGpus(np.array(gpus, dtype=np.int64), _facts([facts[gpu] for gpu in gpus], until))


def _facts(gpus: Sequence[tuple[bool, str, str, float, float]], until: datetime) -> GpuFacts:
    """Put the facts of GPUs, each (is a slice, vendor, model, memory, power limit), into arrays."""
    return facts_of(
        len(gpus),
        is_mig=[one[0] for one in gpus],
        is_amd=[one[1] == NEEDS_BASELINE for one in gpus],
        memory_total_mib=[one[3] for one in gpus],
        power_limit_watts=[one[4] for one in gpus],
        power_baseline_watts=baselines_of(((one[1], one[2]) for one in gpus), until),
    )


def _within_count(
    devices: list[list[Member]], versions: Sequence[Version], last_seen: Mapping[int, int], since: datetime
) -> list[list[Member]]:
    """Leave out GPUs that were exchanged: no longer seen, while the machine is full without them."""
    count = versions[-1].gpu_count if versions else None
    if count is None or len(devices) <= count:
        return devices
    start = milliseconds(since)

    def seen_at(device: list[Member]) -> int:
        return max(last_seen[member.gpu] for member in device)

    gone = sorted((device for device in devices if seen_at(device) < start), key=seen_at)
    dropped = {id(device) for device in gone[: len(devices) - count]}
    return [device for device in devices if id(device) not in dropped]


def _ms(column: str) -> str:
    """Give the SQL of a time in epoch milliseconds (none: for ever); Python would spend its time on parsing them."""
    table, _, name = column.rpartition(".")
    quoted = f'{table}."{name}"' if table else f'"{name}"'
    return f"coalesce(floor(extract(epoch FROM {quoted}) * 1000)::bigint, {FOR_EVER})"


def _fetch(query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _versions(ids: Collection[int], until: datetime) -> dict[int, list[Version]]:
    found: defaultdict[int, list[Version]] = defaultdict(list)
    for instance, start, count, model in _fetch(
        "SELECT v.instance_id, v.valid_from, coalesce((v.attributes ->> 'gpu_count')::numeric, i.gpu_count),"
        " coalesce(v.attributes ->> 'gpu_model', '') FROM fleet_instanceversion v JOIN fleet_instance i"
        " ON i.id = v.instance_id WHERE v.instance_id = ANY(%(ids)s) AND v.valid_from < %(until)s"
        " ORDER BY v.instance_id, v.valid_from",
        {"ids": list(ids), "until": until},
    ):
        whole = None if count is None else -int(-count // 1)  # a third of a GPU is one device
        found[instance].append(Version(milliseconds(start), whole, model))
    return found


def _placements(ids: Collection[int], since: datetime, until: datetime) -> list[tuple[Any, ...]]:
    return _fetch(
        f"SELECT p.instance_id, p.gpu_id, g.uuid, g.mig_instance, {_ms('p.start')}, {_ms('p.end')}, g.model, g.vendor,"
        f" g.memory_total_mib, g.power_limit_watts, {_ms('g.last_seen_at')}"
        " FROM fleet_gpuplacement p JOIN fleet_gpu g ON g.id = p.gpu_id"
        ' WHERE p.instance_id = ANY(%(ids)s) AND p.start < %(until)s AND (p."end" IS NULL OR p."end" > %(since)s)'
        " ORDER BY p.instance_id, g.index, g.uuid, g.mig_instance, p.start",
        {"ids": list(ids), "since": since, "until": until},
    )


def _uses(gpus: Collection[int], since: datetime, until: datetime) -> dict[int, list[Use]]:
    found: defaultdict[int, list[Use]] = defaultdict(list)
    for gpu, job, start, end in _fetch(
        f"SELECT gpu_id, job_id, {_ms('start')}, {_ms('end')} FROM fleet_gpuuse"
        " WHERE gpu_id = ANY(%(gpus)s) AND start < %(until)s"
        ' AND ("end" IS NULL OR "end" > %(since)s) ORDER BY gpu_id, start, job_id',
        {"gpus": list(gpus), "since": since, "until": until},
    ):
        found[gpu].append(Use(start, end, job))
    return found


def load_idle(gpu_ids: NDArray[np.int64], marks: NDArray[np.int64]) -> Flags:
    """Tell [G, N] which samples lie in an idle run of the organisation's rule.

    ``gpu_ids`` are sorted, ``marks`` epoch seconds.
    """
    if not gpu_ids.size or not marks.size:
        return np.zeros((len(gpu_ids), len(marks)), dtype=np.bool_)
    found = _fetch(
        "SELECT gpu_id, extract(epoch FROM since)::float8, coalesce(extract(epoch FROM until), 'Infinity')::float8"
        " FROM fleet_idlerun WHERE gpu_id = ANY(%(gpus)s) AND since < to_timestamp(%(last)s)"
        " AND (until IS NULL OR until >= to_timestamp(%(first)s))",
        {"gpus": gpu_ids.tolist(), "first": int(marks[0]), "last": int(marks[-1])},
    )
    if not found:
        return np.zeros((len(gpu_ids), len(marks)), dtype=np.bool_)
    gpus, since, until = (np.array(column) for column in zip(*found, strict=True))
    rows = np.searchsorted(gpu_ids, gpus.astype(np.int64))
    return mark_runs(marks, len(gpu_ids), rows, since.astype(np.float64), until.astype(np.float64))
