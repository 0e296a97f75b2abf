"""Claims move time and money, and never double or lose any of it."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from random import Random

import pytest

from billing.models import MachineDay, TeamDay
from common.periods import BEGINNING
from fleet.actions.claims import Subject, claim, take_back
from fleet.models import Claim, GpuHour, OwnershipRule
from people.models import Organization
from tests.support.money_world import World, utc


@pytest.mark.parametrize("seed", range(3))
def test_claims_never_double_or_lose_time_or_cost(world: World, seed: int) -> None:
    """Whatever is claimed, undone, ended and ruled: the sums stay, and only what had no rule moves."""
    random = Random(seed)
    Organization.objects.update_or_create(pk=1, defaults={"time_zone": random.choice(["UTC", "Asia/Kolkata"])})
    names = [world.team(name) for name in ("red", "blue")]
    OwnershipRule.objects.create(valid_from=BEGINNING, position=0, spec={"team_from": {"label": "namespace"}})
    boxes = []
    for number in range(3):
        box = world.instance(f"i-{number}", [("2025-06-03T00:00", "running")], gpu_count=2, price="7.77")
        gpus = [world.gpu(box, index) for index in range(2)]
        for gpu in gpus:
            world.sample(gpu, "2025-06-03T00:00", "2025-06-03T12:00", random.choice([0, 50]))
        boxes.append(box)
        world.job(
            gpus[:1], f"job-{number}", "2025-06-03T02:30", "2025-06-03T07:10", namespace=random.choice(["red", "x"])
        )
    world.settle("2025-06-03T12:00")

    def totals() -> tuple[int, Decimal, Decimal]:
        times = sum(
            row.working_ms + row.held_ms + row.empty_ms + row.unknown_ms + row.low_ms for row in GpuHour.objects.all()
        )
        days = sum((row.compute_working + row.compute_held + row.compute_empty + row.compute_unknown + row.compute_low
                    for row in TeamDay.objects.all()), Decimal(0))  # fmt: skip
        machines = sum(
            (row.working + row.held + row.empty + row.unknown + row.low for row in MachineDay.objects.all()), Decimal(0)
        )
        return times, days, machines

    before = totals()
    ruled = {key: one for key, one in by_team().items() if key is not None}
    now = utc("2025-06-03T12:00")
    for _ in range(6):
        now += timedelta(hours=random.choice([0, 1, 30]))
        held = list(Claim.objects.filter(valid_to=None))
        if held and random.random() < 0.4:
            take_back(now=now, by="a", claim_id=random.choice(held).pk)
        else:
            free = [box for box in boxes if not Claim.objects.filter(instance=box, valid_to=None).exists()]
            if free:
                claim(now=now, by="a", subject=Subject("instance", random.choice(free).pk),
                      team_id=random.choice(names).pk, from_beginning=random.random() < 0.7)  # fmt: skip
        world.settle("2025-06-03T12:00")
        assert totals() == before
        assert all(by_team()[team] >= amount for team, amount in ruled.items()), "a claim takes nothing from a rule"


def by_team() -> dict[int | None, Decimal]:
    found: defaultdict[int | None, Decimal] = defaultdict(Decimal)
    for row in TeamDay.objects.all():
        found[row.team_id] += row.compute_working + row.compute_held + row.compute_empty + row.compute_unknown
    return found
