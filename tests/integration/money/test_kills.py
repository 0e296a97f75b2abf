"""A pass may die anywhere: the next one goes on, nothing is lost, nothing is counted twice."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from billing.actions.costs import price_hours
from billing.models import GpuHourCost, StaleDay, TeamDay
from fleet.actions.meter import meter
from fleet.models import ChangedHour, GpuHour, RemeteredHour
from tests.support.money_world import World, sums, utc

NOW = utc("2025-06-01T06:00")


class KilledError(Exception):
    """Stands for the end of the process."""


def die(*_args: Any, **_kwargs: Any) -> Any:
    raise KilledError


@pytest.fixture
def fleet(world: World) -> World:
    box = world.instance("i-1", [("2025-06-01T00:00", "running")], price="2.00")
    gpu = world.gpu(box, since="2025-06-01T00:00")
    world.sample(gpu, "2025-06-01T00:00", "2025-06-01T06:00", 90)
    return world


def assert_whole(world: World) -> None:
    world.settle("2025-06-01T06:00")
    assert sums(GpuHour.objects.all(), ["working_ms"]) == {"working_ms": 6 * 3_600_000}
    assert sums(GpuHourCost.objects.all(), ["working"]) == {"working": Decimal(12)}
    assert sums(TeamDay.objects.all(), ["compute_working"]) == {"compute_working": Decimal(12)}
    assert (ChangedHour.objects.count(), RemeteredHour.objects.count(), StaleDay.objects.count()) == (0, 0, 0)


@pytest.mark.parametrize(
    "where",
    [
        "fleet.actions.meter.presence",
        "fleet.actions.meter.load_block",
        "fleet.actions.meter.write_hours",
        "billing.actions.costs.write_gpu_costs",
        "billing.actions.costs.write_instance_costs",
        "billing.actions.costs.mark_days",
        "billing.actions.team_days.day_start",
    ],
)
def test_a_kill_loses_nothing(fleet: World, where: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, die)
        with pytest.raises(KilledError):
            fleet.settle("2025-06-01T06:00")
    assert_whole(fleet)


def test_a_kill_between_metering_and_pricing_loses_nothing(fleet: World) -> None:
    fleet.store()
    meter(now=NOW)
    assert RemeteredHour.objects.count() == 6
    assert_whole(fleet)


def test_a_limit_leaves_the_rest_for_the_next_pass(fleet: World) -> None:
    fleet.store()
    other = fleet.instance("i-2", [("2025-05-20T00:00", "running")], price="1")
    told: list[tuple[int, int]] = []
    first = meter(now=NOW, limit=1, progress=lambda done, left: told.append((done, left)))
    assert (first.hours, first.is_complete) == (24, False)
    assert told == [(24, 24 * 11 + 6 + 6)]
    assert meter(now=NOW).is_complete
    price_hours()
    assert sums(GpuHourCost.objects.filter(instance=other), ["unknown"]) == {"unknown": Decimal(24 * 12 + 6)}


def test_hours_whose_samples_are_gone_stand_as_they_are(fleet: World) -> None:
    from common.partitions import drop_months

    fleet.settle("2025-06-01T06:00")
    assert drop_months("fleet_samplehour", before=utc("2025-08-01T00:00")) >= 1
    instance = GpuHour.objects.first().instance_id  # type: ignore[union-attr]
    ChangedHour.objects.create(instance_id=instance, hour=utc("2025-06-01T03:00"))
    assert_whole(fleet)
