"""What is past retention goes, whole months at a time, counted from the newest sample and not from the clock."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from billing.models import InstanceHourCost
from common.effects import SIMULATED
from common.partitions import make_months, months_of
from config.passes import Pass, retain
from tests.support.sampled_fleet import machine, play

pytestmark = pytest.mark.django_db

TABLES = ("fleet_samplehour", "fleet_gpuhour", "billing_gpuhourcost")


def months(year: int, month: int) -> datetime:
    return datetime(year, month, 15, tzinfo=UTC)


@pytest.fixture
def old_and_new() -> None:
    """Months of 2023 to 2025 and a newest sample of 3 June 2025."""
    for table in TABLES:
        make_months(table, [months(2023, 4), months(2023, 5), months(2025, 1), months(2025, 2), months(2025, 6)])
    instance, devices = machine("i-1")
    play(devices[0], "08:00", "09:00", gpu_util=50)
    for hour in (datetime(2023, 4, 30, 23, tzinfo=UTC), datetime(2023, 5, 1, tzinfo=UTC)):
        InstanceHourCost.objects.create(hour=hour, instance=instance, kind="storage", currency="USD", amount=1)


def test_samples_go_after_100_days_hours_and_their_costs_after_25_months(old_and_new: None) -> None:
    # the clock says 2026: what counts is the newest sample
    assert retain(Pass(datetime(2026, 11, 30, tzinfo=UTC), SIMULATED)) == 3 + 1 + 1 + 1
    samples = months_of("fleet_samplehour")
    assert {date(2023, 4, 1), date(2023, 5, 1), date(2025, 1, 1)} & samples == set()
    assert {date(2025, 2, 1), date(2025, 6, 1)} <= samples  # 100 days before 3 June lie in February
    for table in ("fleet_gpuhour", "billing_gpuhourcost"):
        assert date(2023, 4, 1) not in months_of(table)
        assert {date(2023, 5, 1), date(2025, 1, 1)} <= months_of(table)
    assert list(InstanceHourCost.objects.values_list("hour", flat=True)) == [datetime(2023, 5, 1, tzinfo=UTC)]


def test_nothing_goes_before_there_is_a_sample() -> None:
    make_months("fleet_samplehour", [months(2019, 1)])
    assert retain(Pass(datetime(2026, 11, 30, tzinfo=UTC), SIMULATED)) == 0
    assert date(2019, 1, 1) in months_of("fleet_samplehour")
