"""Peak and mean of jobs over their lives so far, over all GPUs they held."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np

from fleet.domain.samples import STEP_SECONDS
from fleet.domain.utilization import Use, measure
from fleet.models import GpuUse
from fleet.queries.fleet_at import FleetAt, moment
from fleet.queries.folding import batches
from fleet.queries.samples import load_block

Spans = list[tuple[int, float, float]]  # GPU row, start, end in epoch seconds


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


def use_over(fleet: FleetAt, spans: Spans) -> Use | None:
    """Weigh the samples of the spans: a sample belongs to a span when its mark lies in (start, end]."""
    if not spans:
        return None
    begin = int(min(start for _, start, _ in spans))
    rows = sorted({row for row, _, _ in spans})
    parts: list[Use] = []
    for places in batches(np.array(rows, dtype=np.int64), max(1, (fleet.mark - begin) // STEP_SECONDS)):
        block = load_block(fleet.ids(places), moment(begin), fleet.at)
        inside = np.zeros(block.shape, dtype=np.bool_)
        at = {int(row): place for place, row in enumerate(places)}
        for row, start, end in spans:
            if row in at:
                inside[at[row]] |= (block.marks > start) & (block.marks <= end)
        facts = fleet.facts(places, begin)
        use = measure(block, facts.is_mig, facts.memory_total_mib, inside)
        if use is not None:
            parts.append(use)
    return _together(parts)


def _together(parts: list[Use]) -> Use | None:
    """One figure from those of several blocks; the 95th percentile is the highest of theirs, so never told too low."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    hours = sum(part.gpu_hours for part in parts)
    shares = [part.memory_share for part in parts if part.memory_share is not None]
    return Use(
        gpu_hours=hours,
        mean_pct=sum(part.mean_pct * part.gpu_hours for part in parts) / hours,
        p95_pct=max(part.p95_pct for part in parts),
        memory_share=max(shares) if shares else None,
        peak_pct=max(part.peak_pct for part in parts),
    )
