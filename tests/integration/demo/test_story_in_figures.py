"""What the month of the demo tells, in exact hours, findings and money: each part of the story that a buyer knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F, Sum

from billing.models import InstanceHourCost
from demo.management.commands import demo
from fleet.models import Finding, GpuHour

NOW = datetime(2026, 4, 1, 0, 10, tzinfo=UTC)
STORY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def at(day: int, hour: int = 0) -> datetime:
    return STORY + timedelta(days=day, hours=hour)


def hours(host: str, since: datetime, until: datetime) -> dict[str, float]:
    """Give the GPU-hours of a machine by state, of those that there are."""
    rows = GpuHour.objects.filter(instance__external_id=host, hour__gte=since, hour__lt=until)
    sums = rows.aggregate(
        used=Sum(F("working_ms") + F("low_ms")), low=Sum("low_ms"), held=Sum("held_ms"), empty=Sum("empty_ms"),
        unknown=Sum("unknown_ms"), stopped=Sum("stopped_ms"),
    )  # fmt: skip
    return {name: round(value / 3_600_000, 4) for name, value in sums.items() if value}


@pytest.mark.slow
def test_a_friday_a_saturday_and_a_sunday(db: None, demo_settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "PACE", ((timedelta(minutes=10), 1), (timedelta(hours=1), 3)))
    demo.begin(now=NOW, days=5)
    demo.fill(start=at(25), at=at(28))

    friday, saturday = at(25), at(26)
    for host in (
        "cw-fnd-01",
        "cw-pst-01",
    ):  # the file server hangs on Friday from 14:00 to 14:50: low, no waste
        assert hours(host, friday + 14 * HOUR, friday + 15 * HOUR) == {"used": 8.0, "low": 6.6667}
    told = Finding.objects.filter(kind="idle", instance__external_id__startswith="cw-", opened_at__gte=at(25, 14))
    assert not told.exists()

    # 40 minutes without a collector on Sunday are unknown for good, and never idle
    assert hours("cw-fnd-01", at(27, 10), at(27, 11)) == {"used": 2.6667, "unknown": 5.3333}

    # notebooks over the weekend: six hold their memory all the time, two are shut down; the outage is nobody's waste
    weekend = {host: hours(host, saturday, at(28)) for host in (f"lam-apr-{n:02}" for n in range(1, 9))}
    forgotten, shut_down = {"held": 47.3333, "unknown": 0.6667}, {"empty": 47.3333, "unknown": 0.6667}
    assert weekend == {host: shut_down if host in ("lam-apr-04", "lam-apr-07") else forgotten for host in weekend}

    # replicas wait at night, hardly asked, and are not idle for that
    assert hours("aws-inf-01", saturday, saturday + 4 * HOUR) == {"used": 32.0, "low": 32.0}
    assert hours("aws-inf-01", saturday + 12 * HOUR, saturday + 16 * HOUR) == {"used": 32.0}

    assert hours("cw-fnd-06", saturday, saturday + DAY) == {"empty": 192.0}  # reserved, and left idle
    assert hours("cw-fnd-01", saturday, saturday + DAY)["used"] == 192.0
    assert hours("aws-spc-02", saturday, saturday + DAY) == {"stopped": 192.0}
    disk = InstanceHourCost.objects.filter(
        instance__external_id="aws-spc-02", hour__gte=saturday, hour__lt=saturday + DAY
    )
    assert f"{disk.aggregate(total=Sum('amount'))['total']:.4f}" == "10.5205"  # 4000 GB at $0.08 a month of 730 hours
