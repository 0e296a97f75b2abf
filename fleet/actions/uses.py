"""Who held devices: jobs and their runs on GPUs, from the owner labels of series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection
from django.db.models import Q

from fleet.actions.registry import moment
from fleet.actions.samples import mark_changed
from fleet.domain.runs import MISSED_SCRAPES, Run, end_in_time, replace_window
from fleet.domain.series import Owner
from fleet.models import GpuUse, Job

REQUEUE_SECONDS = 900
"""The same id seen again within this time is the same job; later it is a new one."""
LOST_SECONDS = 86_400
_INFINITE = float("inf")

Key = tuple[str, str]  # kind, external id


@dataclass(frozen=True)
class _Use:
    """A stored use; times in epoch seconds."""

    id: int
    gpu: int
    job: int
    key: Key
    start: float
    end: float | None


@dataclass
class _KnownJob:
    """A job row; times in epoch seconds."""

    id: int
    start: float
    end: float | None


@dataclass
class Uses:
    """The jobs and uses of one source during a pull."""

    source_id: int
    jobs: dict[Key, list[_KnownJob]] = field(default_factory=dict)

    def record(
        self,
        found: Mapping[int, Sequence[Run[Owner]]],
        newest: Mapping[int, bool],
        interval: Mapping[int, float],
        *,
        since: float,
        until: float,
    ) -> None:
        """Write the owner runs of devices (GPU id -> runs) seen in the window ``[since, until]``."""
        settled = _settled(found, newest, since)
        found = {gpu: runs for gpu, runs in found.items() if gpu not in settled}
        stored = _stored(found, since)
        owners = {(run.key.kind, run.key.external_id): run.key for runs in found.values() for run in runs}
        gone: list[_Use] = []
        new: list[tuple[int, Run[Key]]] = []
        for gpu, runs in found.items():
            old = stored.get(gpu, [])
            tolerance = (MISSED_SCRAPES + 1) * interval[gpu] + 1
            seen = [Run((run.key.kind, run.key.external_id), run.start, run.end) for run in runs]
            known = end_in_time([Run(use.key, use.start, use.end) for use in old], seen, since)
            inside = [
                Run(run.key, max(run.start, since), run.end) for run in seen if run.end is None or run.end > since
            ]
            wanted = replace_window(known, inside, since=since, until=until, is_newest=newest[gpu], tolerance=tolerance)
            kept = {(use.key, use.start, use.end) for use in old}
            want = {(run.key, run.start, run.end) for run in wanted}
            gone += [use for use in old if (use.key, use.start, use.end) not in want]
            new += [(gpu, run) for run in wanted if (run.key, run.start, run.end) not in kept]
        if gone or new:
            self._load_jobs({run.key for _, run in new})
            self._write(gone, new, owners, until)

    def _load_jobs(self, keys: Iterable[Key]) -> None:
        """Read the jobs of ``keys`` that were not read yet."""
        ids = [external for kind, external in keys if (kind, external) not in self.jobs]
        rows = Job.objects.filter(source_id=self.source_id, external_id__in=ids).order_by("started_at")
        for pk, kind, external, start, end in rows.values_list("id", "kind", "external_id", "started_at", "ended_at"):
            self.jobs.setdefault((kind, external), []).append(
                _KnownJob(pk, start.timestamp(), end.timestamp() if end else None)
            )

    def _job_of(self, run: Run[Key], owners: Mapping[Key, Owner]) -> int:
        """Give the job of a run: one that touches it within REQUEUE_SECONDS, else a new one."""
        end = _INFINITE if run.end is None else run.end
        for job in self.jobs.get(run.key, ()):
            ended = _INFINITE if job.end is None else job.end
            if run.start <= ended + REQUEUE_SECONDS and job.start <= end + REQUEUE_SECONDS:
                job.start = min(job.start, run.start)
                job.end = None if run.end is None or job.end is None else max(job.end, run.end)
                return job.id
        owner = owners[run.key]
        row = Job.objects.create(
            source_id=self.source_id,
            kind=owner.kind,
            external_id=owner.external_id[:300],
            owner=owner.user[:254],
            labels=dict(owner.labels),
            started_at=moment(run.start),
            ended_at=_at(run.end),
        )
        self.jobs.setdefault(run.key, []).append(_KnownJob(row.pk, run.start, run.end))
        return int(row.pk)

    def _write(
        self, gone: Sequence[_Use], new: Sequence[tuple[int, Run[Key]]], owners: dict[Key, Owner], until: float
    ) -> None:
        GpuUse.objects.filter(pk__in=[use.id for use in gone]).delete()
        touched = {use.job for use in gone}
        before: dict[Key, list[_Use]] = {}
        for use in gone:
            before.setdefault(use.key, []).append(use)
        rows: list[GpuUse] = []
        for gpu, run in sorted(new, key=lambda item: item[1].start):
            kept = next((use.job for use in before.get(run.key, ()) if _touch(use, run)), None)
            job = kept if kept is not None else self._job_of(run, owners)
            touched.add(job)
            rows.append(GpuUse(gpu_id=gpu, job_id=job, start=moment(run.start), end=_at(run.end)))
        GpuUse.objects.bulk_create(rows, batch_size=5000)
        _date_jobs(touched)
        _mark(gone, new, until)


def _horizon(since: float) -> datetime:
    """Give the time before which a use that has ended is out of reach of a window from ``since`` on."""
    return moment(since - 2 * REQUEUE_SECONDS - 7200)


def _settled(found: Mapping[int, Sequence[Run[Owner]]], newest: Mapping[int, bool], since: float) -> set[int]:
    """Give the devices whose only use within reach is open and says what was found all along the window.

    Nearly all of them, nearly always: for them there is nothing to put together, and nothing to write.
    """
    same = {
        gpu: runs[0].key
        for gpu, runs in found.items()
        if len(runs) == 1 and runs[0].end is None and runs[0].start <= since and newest[gpu]
    }
    kinds, jobs = [key.kind for key in same.values()], [key.external_id for key in same.values()]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT found.gpu_id
            FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS found (gpu_id, kind, external_id)
            JOIN fleet_gpuuse AS use ON use.gpu_id = found.gpu_id AND (use."end" IS NULL OR use."end" >= %s)
            JOIN fleet_job AS job ON job.id = use.job_id
            GROUP BY found.gpu_id
            HAVING count(*) = 1 AND bool_and(
                use."end" IS NULL AND use.start <= to_timestamp(%s)
                AND job.kind = found.kind AND job.external_id = found.external_id
            )
            """,
            [list(same), kinds, jobs, _horizon(since), since],
        )
        return {gpu for (gpu,) in cursor.fetchall()}


def _stored(found: Mapping[int, Sequence[Run[Owner]]], since: float) -> dict[int, list[_Use]]:
    """Give the uses that the window can touch."""
    rows = GpuUse.objects.filter(Q(end=None) | Q(end__gte=_horizon(since)), gpu_id__in=found)
    stored: dict[int, list[_Use]] = {}
    values = rows.values_list("gpu_id", "id", "job_id", "job__kind", "job__external_id", "start", "end")
    for gpu, pk, job, kind, external, start, end in values.iterator(chunk_size=10_000):
        use = _Use(pk, gpu, job, (kind, external), start.timestamp(), end.timestamp() if end else None)
        stored.setdefault(gpu, []).append(use)
    return stored


def _touch(use: _Use, run: Run[Key]) -> bool:
    ended = _INFINITE if use.end is None else use.end
    end = _INFINITE if run.end is None else run.end
    return use.start <= end and run.start <= ended


def _at(seconds: float | None) -> datetime | None:
    return None if seconds is None else moment(seconds)


def _date_jobs(jobs: Iterable[int]) -> None:
    """Set start and end of jobs from their uses; a job that lost all of them goes."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE fleet_job SET started_at = used.start, ended_at = used.ended
            FROM (
                SELECT job_id, min(start) AS start,
                       CASE WHEN bool_or("end" IS NULL) THEN NULL ELSE max("end") END AS ended
                FROM fleet_gpuuse WHERE job_id = ANY(%s) GROUP BY job_id
            ) AS used
            WHERE fleet_job.id = used.job_id AND (started_at, ended_at) IS DISTINCT FROM (used.start, used.ended)
            """,
            [list(jobs)],
        )
    Job.objects.filter(pk__in=list(jobs), uses=None).delete()


def _mark(gone: Sequence[_Use], new: Sequence[tuple[int, Run[Key]]], until: float) -> None:
    """Mark the hours in which somebody else is the holder now."""
    spans: list[tuple[int, float, float]] = []
    old = {(use.gpu, use.key, use.start): use for use in gone}
    for gpu, run in new:
        end = _INFINITE if run.end is None else run.end
        use = old.pop((gpu, run.key, run.start), None)
        low, high = sorted((run.start if use is None else _INFINITE if use.end is None else use.end, end))
        spans.append((gpu, min(low, until), min(high, until)))
    spans += [(use.gpu, use.start, min(_INFINITE if use.end is None else use.end, until)) for use in old.values()]
    gpus: list[int] = []
    hours: list[int] = []
    for gpu, low, high in spans:
        for hour in range(int(low // 3600), int(max(high, low) // 3600) + 1):
            gpus.append(gpu)
            hours.append(hour * 3600)
    if gpus:
        mark_changed(gpus, hours)


def close_lost_uses(*, source_id: int, until: float) -> int:
    """End the uses of devices that were not seen for a day, at the last time they were."""
    with connection.cursor() as cursor:
        cursor.execute(
            'UPDATE fleet_gpuuse SET "end" = greatest(gpu.last_seen_at, start) FROM fleet_gpu gpu'
            ' WHERE gpu.id = gpu_id AND "end" IS NULL AND gpu.source_id = %s AND gpu.last_seen_at < to_timestamp(%s)'
            " RETURNING job_id",
            [source_id, until - LOST_SECONDS],
        )
        jobs = {job for (job,) in cursor.fetchall()}
    if jobs:
        _date_jobs(jobs)
    return len(jobs)
