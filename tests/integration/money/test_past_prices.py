"""An apply says what a price moves in time that is over, and moves nothing in a dry run."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from billing.actions.costs import price_hours
from billing.models import GpuHourCost
from tests.support.declared import apply_text, names, utc
from tests.support.money_world import World

START = utc("2025-06-03T00:00")
NOW = utc("2025-06-05T00:00")
PRICES = "prices: [{{gpu_model: H100, unit: gpu_hour, price: '{}'{}}}]"
DATED = ", valid_from: 2025-06-03"


@pytest.fixture
def metered(world: World, tmp_path: Path) -> Path:
    """Meter two machines with eight H100 in all, a day each at 2 USD per GPU and hour, and one of another model."""
    apply_text(tmp_path, "organization: {name: Lab, time_zone: UTC}\n" + PRICES.format("2.00", DATED), now=START)
    for name, gpus, model in (("a", 6, "H100"), ("b", 2, "H100"), ("c", 1, "L40S")):
        states = (("2025-06-03T00:00", "running"), ("2025-06-04T00:00", "stopped"))
        box = world.instance(name, states, gpu_count=gpus, gpu_model=model)
        for index in range(gpus):
            world.gpu(box, index, model=model)
    world.settle("2025-06-05T00:00")
    return tmp_path


def warned(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["code"], one["where"]["key"], one["message"]) for one in result["warnings"]]


MOVED = (
    "H100 gpu_hour USD from 2025-06-03 changes what was metered from 2025-06-03T00:00:00Z to 2025-06-05T00:00:00Z on"
    " 2 instances: 384.00 USD become 480.00 USD. To let the past stand, give the new price a valid_from of its own."
)


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_price_edited_in_place_says_what_it_moves(metered: Path, dry_run: bool) -> None:
    result = apply_text(metered, PRICES.format("2.50", DATED), now=NOW, dry_run=dry_run)
    assert names(result, "changed") == ["price H100 gpu_hour USD from 2025-06-03: price"]
    assert warned(result) == [("price_changes_past", "prices[0]", MOVED)]
    price_hours()
    total = sum(row.working + row.unknown + row.held + row.empty for row in GpuHourCost.objects.exclude(working=None))
    assert total == (384 if dry_run else 480)


def test_a_price_that_begins_now_moves_nothing(metered: Path) -> None:
    assert warned(apply_text(metered, PRICES.format("2.50", ", valid_from: 2025-06-05"), now=NOW)) == []
    other = PRICES.format("2.50", ", valid_from: 2025-06-05, source: list")
    assert warned(apply_text(metered, other, now=NOW)) == []


def test_a_price_that_begins_in_the_past_moves_from_there(metered: Path) -> None:
    result = apply_text(metered, PRICES.format("1.00", ", valid_from: 2025-06-03T12:00:00Z"), now=NOW)
    ((code, _, message),) = warned(result)
    assert code == "price_changes_past"
    assert "from 2025-06-03T12:00:00Z to 2025-06-05T00:00:00Z on 2 instances: 192.00 USD become 96.00 USD." in message


def test_an_end_that_moves_leaves_time_unpriced(metered: Path) -> None:
    ended = PRICES.format("2.00", DATED + ", valid_to: 2025-06-03T18:00:00Z")
    ((_, _, message),) = warned(apply_text(metered, ended, now=NOW))
    assert "on 2 instances: 96.00 USD become unpriced." in message
    price_hours()
    ((_, _, again),) = warned(apply_text(metered, PRICES.format("2.00", DATED), now=NOW))
    assert "on 2 instances: 48.00 GPU-hours without a price get one." in again


def test_a_new_price_for_what_had_none(metered: Path) -> None:
    text = """
        prices:
          - {gpu_model: H100, unit: gpu_hour, price: '2.00', valid_from: 2025-06-03}
          - {gpu_model: L40S, unit: gpu_hour, price: '1.00'}
        """
    ((_, key, message),) = warned(apply_text(metered, text, now=NOW + timedelta(days=1)))
    assert key == "prices[1]"
    assert "on one instance: 24.00 GPU-hours without a price get one." in message
