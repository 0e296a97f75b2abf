"""Peak and mean of jobs over their lives so far, over all GPUs they held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import numpy as np

from fleet.domain.samples import STEP_SECONDS
from fleet.domain.utilization import Use, measure
from fleet.models import GpuUse
from fleet.queries.fleet_at import FleetAt, moment
from fleet.queries.folding import SAMPLES_AT_ONCE, batches, select_rows
from fleet.queries.samples import load_block

Spans = list[tuple[int, float, float]]  # GPU row, start, end in epoch seconds
Key = tuple[str, int]  # job or instance, row id


def spans_of_jobs(fleet: FleetAt, job_ids: Collection[int], since: float = 0.0) -> dict[int, Spans]:
    """When each job held which GPUs, cut to (since, now]."""
    row_of = {gpu.id: row for row, gpu in enumerate(fleet.gpus)}
    found: defaultdict[int, Spans] = defaultdict(list)
    uses = GpuUse.objects.filter(job_id__in=job_ids, start__lt=fleet.at).order_by("job_id", "gpu_id", "start")
    for job, gpu, start, end in uses.values_list("job_id", "gpu_id", "start", "end"):
        until = min(end.timestamp(), float(fleet.mark)) if end else float(fleet.mark)
        if gpu in row_of and until > since:
            found[job].append((row_of[gpu], max(start.timestamp(), since), until))
    return dict(found)


def uses_over(fleet: FleetAt, asked: Mapping[Key, Spans]) -> dict[Key, Use]:
    """Weigh the samples of each one's spans: a sample belongs to a span when its mark lies in (start, end].

    Many are read together, as far as memory allows; a very large one in parts. What has no activity has no answer.
    """
    parts: defaultdict[Key, list[Use]] = defaultdict(list)
    began = {key: min(start for _, start, _ in spans) for key, spans in asked.items() if spans}
    group: dict[Key, Spans] = {}
    rows: set[int] = set()
    marks = 0
    for key in sorted(began, key=lambda key: began[key]):
        mine = {row for row, _, _ in asked[key]}
        if group and (len(rows) + len(mine - rows)) * marks > SAMPLES_AT_ONCE:
            _measure(fleet, group, parts)
            group, rows = {}, set()
        if not group:
            marks = int((fleet.mark - began[key]) // STEP_SECONDS) + 1
        group[key] = asked[key]
        rows |= mine
    if group:
        _measure(fleet, group, parts)
    return {key: _together(found) for key, found in parts.items()}


def _measure(fleet: FleetAt, group: Mapping[Key, Spans], parts: defaultdict[Key, list[Use]]) -> None:
    """Read the samples of a group and weigh them for each of it."""
    begin = int(min(start for spans in group.values() for _, start, _ in spans))
    rows = np.array(sorted({row for spans in group.values() for row, _, _ in spans}), dtype=np.int64)
    for some in batches(rows, max(1, (fleet.mark - begin) // STEP_SECONDS)):
        block = load_block(fleet.ids(some), moment(begin), fleet.at)
        facts = fleet.facts(some, begin)
        place = {int(row): at for at, row in enumerate(some)}
        for key, spans in group.items():
            mine = sorted({place[row] for row, _, _ in spans if row in place})
            if not mine:
                continue
            inside = np.zeros((len(mine), len(block.marks)), dtype=np.bool_)
            at = {one: line for line, one in enumerate(mine)}
            for row, start, end in spans:
                if row in place:
                    inside[at[place[row]]] |= (block.marks > start) & (block.marks <= end)
            part = select_rows(block, np.array(mine, dtype=np.int64))
            use = measure(part, facts.is_mig[mine], facts.memory_total_mib[mine], inside)
            if use is not None:
                parts[key].append(use)


def _together(parts: list[Use]) -> Use:
    """One figure from those of several blocks; the 95th percentile is the highest of theirs, so never told too low."""
    if len(parts) == 1:
        return parts[0]
    hours = sum(part.gpu_hours for part in parts)
    shares = [part.memory_share for part in parts if part.memory_share is not None]
    return Use(
        gpu_hours=hours,
        mean_pct=sum(part.mean_pct * part.gpu_hours for part in parts) / hours,
        p95_pct=max(part.p95_pct for part in parts),
        memory_share=max(shares) if shares else None,
        peak_pct=max(part.peak_pct for part in parts),
    )
