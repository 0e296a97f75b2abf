"""What was finance's yesterday stays: month lengths, cost centres and providers change from a time on."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from billing.queries.spend import spend
from common.periods import Period
from fleet.actions.remetered import mark_remetered
from tests.support.declared import apply_text, utc
from tests.support.money_world import World

pytestmark = pytest.mark.django_db
TEXT = """
organization: {{name: O, currency: USD, time_zone: UTC, hours_per_month: {length}}}
teams: [{{name: red, cost_center: {center}}}]
ownership: [{{team: red, match: {{host: "*"}}}}]
accounts:
  - name: colo
    kind: static
    provider: {provider}
    instances:
      - id: i-1
        host: n1
        gpu_count: 1
        state: running
        launched_at: 2025-06-01T00:00:00Z
        price_per_hour: "1.00"
        disks: [{{size_gb: 720, price_per_gb_month: "1.00", from: 2025-06-01T00:00:00Z}}]
"""
JUNE = Period(utc("2025-06-01T00:00:00Z"), utc("2025-07-01T00:00:00Z"))
DAY = Period(utc("2025-07-01T00:00:00Z"), utc("2025-07-02T00:00:00Z"))


def declare(tmp_path: Path, at: str, *, length: int = 720, center: str = "CC-1", provider: str = "aws") -> None:
    apply_text(tmp_path, TEXT.format(length=length, center=center, provider=provider), now=utc(at))


def by(name: str, period: Period) -> list[tuple[str | None, Decimal | None]]:
    return [(row.key[name], row.total) for row in spend(period, group_by=(name,)).rows]


def storage(period: Period) -> Decimal:
    return sum((row.kinds["storage"] for row in spend(period).rows), Decimal(0))


def test_a_month_of_another_length_counts_from_its_time_on(world: World, tmp_path: Path) -> None:
    declare(tmp_path, "2025-06-01T00:00:00Z")
    world.settle("2025-07-02T00:00")
    assert (storage(JUNE), storage(DAY)) == (Decimal(720), Decimal(24))
    declare(tmp_path, "2025-07-01T12:30:00Z", length=360)
    mark_remetered(since=JUNE.start)
    world.settle("2025-07-02T00:00")
    assert (storage(JUNE), storage(DAY)) == (Decimal(720), Decimal("35.5"))  # 12.5 h at 1.00, 11.5 h at 2.00


def test_a_first_declared_month_holds_always(world: World, tmp_path: Path) -> None:
    declare(tmp_path, "2025-07-02T00:00:00Z", length=360)
    world.settle("2025-07-02T00:00")
    assert storage(JUNE) == Decimal(1440)


def test_what_is_taken_back_at_an_earlier_time_holds_from_there(world: World, tmp_path: Path) -> None:
    declare(tmp_path, "2025-06-01T00:00:00Z")
    declare(tmp_path, "2025-07-01T12:00:00Z", length=360)
    declare(tmp_path, "2025-07-01T06:00:00Z", length=180)
    world.settle("2025-07-02T00:00")
    assert (storage(JUNE), storage(DAY)) == (Decimal(720), Decimal(78))  # 6 h at 1.00, 18 h at 4.00


@pytest.mark.parametrize("at", ["2025-07-01T00:00:00Z", "2025-07-01T06:00:00Z"])
def test_another_cost_centre_pays_from_its_time_on(world: World, tmp_path: Path, at: str) -> None:
    declare(tmp_path, "2025-06-01T00:00:00Z")
    declare(tmp_path, at, center="CC-2")
    world.settle("2025-07-02T00:00")
    assert by("cost_center", JUNE) == [("CC-1", Decimal(1440))]
    hours = (utc(at) - DAY.start).seconds // 3600
    split = [("CC-1", Decimal(2 * hours)), ("CC-2", Decimal(48 - 2 * hours))]
    assert by("cost_center", DAY) == [part for part in split if part[1]]


def test_another_provider_is_paid_from_its_time_on(world: World, tmp_path: Path) -> None:
    declare(tmp_path, "2025-06-01T00:00:00Z")
    declare(tmp_path, "2025-07-01T12:00:00Z", provider="coreweave")
    world.settle("2025-07-02T00:00")
    assert by("provider", JUNE) == [("aws", Decimal(1440))]
    assert by("provider", DAY) == [("aws", Decimal(24)), ("coreweave", Decimal(24))]
