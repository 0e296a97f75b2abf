"""Learn the power baselines of cards whose activity alone says too little: once, then once a day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
from django.db.models import Max

from fleet.actions.clocks import forget
from fleet.domain.idle_rule import facts_of
from fleet.domain.power import learn_baseline
from fleet.models import PowerBaseline
from fleet.queries.fleet_at import FleetAt, GpuRow
from fleet.queries.power import NEEDS_BASELINE, power_baselines
from fleet.queries.samples import load_block

REACH = timedelta(days=3)
EVERY = timedelta(days=1)
MOST_GPUS = 100  # of a model are read; others take their turn the next day


def with_baselines(fleet: FleetAt) -> FleetAt:
    """Give the fleet with the baselines in force at its mark, after learning those that are due.

    The GPUs of a model whose first baseline this is are folded again from their first sample: till now they told
    nothing.
    """
    by_model: defaultdict[str, list[GpuRow]] = defaultdict(list)
    for gpu in fleet.gpus:
        if gpu.vendor == NEEDS_BASELINE:
            by_model[gpu.model].append(gpu)
    if not by_model:
        return fleet
    newest = dict(
        PowerBaseline.objects.filter(model__in=by_model).values_list("model").annotate(newest=Max("valid_from"))
    )
    for model, gpus in by_model.items():
        is_first = model not in newest
        if (is_first or newest[model] + EVERY <= fleet.at) and _learn(model, gpus, fleet.at) and is_first:
            forget([gpu.id for gpu in gpus])
    return replace(fleet, power_baselines=power_baselines(fleet.at))


def _learn(model: str, gpus: Sequence[GpuRow], at: datetime) -> bool:
    """Learn from the last days of some GPUs of a model; say whether there was enough to learn from."""
    stride = -(-len(gpus) // MOST_GPUS)
    some = gpus[at.toordinal() % stride :: stride]
    memory = [np.nan if gpu.memory_total_mib is None else gpu.memory_total_mib for gpu in some]
    block = load_block([gpu.id for gpu in some], at - REACH, at)
    learned = learn_baseline(block, facts_of(len(some), memory_total_mib=memory))
    if learned is None:
        return False
    watts, samples = learned
    baseline = PowerBaseline(model=model, valid_from=at, watts=watts, samples=samples)
    PowerBaseline.objects.bulk_create([baseline], ignore_conflicts=True)
    return True
