"""Nothing is lost and nothing is made: random histories, metered in random steps."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from billing.domain.spend import STATES as MONEY_STATES
from billing.models import GpuHourCost, InstanceHourCost, InstancePrice, TeamDay
from fleet.models import ChangedHour, GpuHour, Instance, MeteredSpan, OwnershipRule
from fleet.queries.presence import presence
from people.models import Organization
from tests.support.money_world import World, utc

START = utc("2025-06-01T00:00")
HOUR = timedelta(hours=1)
TIMES = ("working_ms", "low_ms", "held_ms", "empty_ms", "unknown_ms")


def text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M")


def moment(random: Random, hours: int = 30) -> datetime:
    return START + timedelta(minutes=random.randrange(hours * 60))


def make_history(world: World, random: Random) -> dict[int, list[tuple[datetime, Decimal, str]]]:
    """Instances with states, prices, GPUs, jobs; give the prices by instance."""
    for name in ("red", "blue"):
        world.team(name)
    OwnershipRule.objects.create(valid_from=utc("1970-01-01T00:00"), position=0, spec={"team_from": {"tag": "team"}})
    OwnershipRule.objects.create(
        valid_from=utc("1970-01-01T00:00"), position=1, spec={"team_from": {"label": "namespace"}}
    )
    prices: dict[int, list[tuple[datetime, Decimal, str]]] = defaultdict(list)
    for number in range(3):
        times = sorted(moment(random) for _ in range(random.randrange(1, 5)))
        names = ["running", *(random.choice(["stopped", "running", "stopped_billed", "stopping"]) for _ in times[1:])]
        states = list(zip([text(at) for at in times], names, strict=True))
        box = world.instance(
            f"i-{number}",
            states,
            gpu_count=random.choice([1, 2, 3, 8, None]),
            tags={"team": random.choice(["red", "x"])},
        )
        for start in sorted({utc("1970-01-01T00:00"), moment(random)}):
            amount = Decimal(random.randrange(1, 10**9)).scaleb(-7)
            currency = random.choice(["USD", "USD", "EUR"])
            InstancePrice.objects.create(instance=box, valid_from=start, price_per_hour=amount, currency=currency)
            prices[box.pk].append((start, amount, currency))
        gpus = [world.gpu(box, index, since=text(moment(random, 10))) for index in range(random.randrange(3))]
        for gpu in gpus:
            for _ in range(random.randrange(1, 6)):
                begin = moment(random)
                world.sample(
                    gpu, text(begin), text(begin + timedelta(hours=4)), random.choice([0, 10, 90]),
                    minutes=random.choice([1, 4, 5, 6, 20]),
                )  # fmt: skip
            idle = moment(random)
            world.is_idle(gpu, text(idle), text(idle + timedelta(hours=2)))
        for number in range(random.randrange(4)):
            begin = moment(random)
            world.job(gpus, f"blue/{box.pk}-{number}", text(begin), text(begin + timedelta(hours=7)), namespace="blue")
    return prices


def expected_amounts(
    prices: dict[int, list[tuple[datetime, Decimal, str]]], now: datetime
) -> dict[tuple[int, datetime, str, bool], Fraction]:
    """Price x time by (instance, hour, currency, is running), minute by minute."""
    found: defaultdict[tuple[int, datetime, str, bool], Fraction] = defaultdict(Fraction)
    for instance, runs in presence(None, until=now).items():
        for run in runs:
            at = run.start
            while at < run.end and (run.is_running or run.state == "stopped_billed"):
                _, amount, currency = [one for one in prices[instance] if one[0] <= at][-1]
                hour = at.replace(minute=0)
                found[instance, hour, currency, run.is_running] += Fraction(amount) / 60
                at += timedelta(minutes=1)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_costs_are_price_times_time_and_days_are_the_sum_of_hours(world: World, seed: int) -> None:
    random = Random(seed)
    zone = random.choice(["UTC", "Asia/Kolkata", "America/St_Johns", "Europe/Berlin"])
    Organization.objects.update_or_create(pk=1, defaults={"time_zone": zone})
    prices = make_history(world, random)
    now = START
    while now < START + 30 * HOUR:
        now = min(now + timedelta(minutes=5 * random.randrange(1, 200)), START + 30 * HOUR)
        world.settle(text(now))
    assert not ChangedHour.objects.filter(hour__lt=now).exists()

    got: defaultdict[tuple[int, datetime, str, bool], Decimal] = defaultdict(Decimal)
    for cost in GpuHourCost.objects.all():
        running = sum(getattr(cost, state) for state in MONEY_STATES[:5])
        got[cost.instance_id, cost.hour, cost.currency, True] += running
        got[cost.instance_id, cost.hour, cost.currency, False] += cost.stopped
    wanted = expected_amounts(prices, now)
    assert {key for key, amount in got.items() if amount} <= wanted.keys()
    for key, amount in wanted.items():
        assert got[key] == Decimal(round(amount * 10**9)).scaleb(-9), key

    by_hour: defaultdict[tuple[int, datetime], int] = defaultdict(int)
    for row in GpuHour.objects.all():
        by_hour[row.instance_id, row.hour] += sum(getattr(row, name) for name in (*TIMES, "stopped_ms"))
    for (instance, hour), total in by_hour.items():
        count = Instance.objects.get(pk=instance).gpu_count
        elapsed = min(HOUR, now - hour) // timedelta(milliseconds=1)
        if count is not None and count >= 2:
            assert total == count * elapsed
        else:
            assert total % elapsed == 0 or count is None

    money = {state: sum(getattr(cost, state) for cost in GpuHourCost.objects.all()) for state in MONEY_STATES}
    days = {state: sum(getattr(cell, f"compute_{state}") for cell in TeamDay.objects.all()) for state in MONEY_STATES}
    assert days == money
    times = {name: sum(getattr(row, name) for row in GpuHour.objects.all()) for name in TIMES}
    assert {name: sum(getattr(cell, name) for cell in TeamDay.objects.all()) for name in TIMES} == times
    assert not InstanceHourCost.objects.exists()

    def rows() -> list[list[Any]]:
        order = ("hour", "instance_id", "gpu_ref", "share")
        days = TeamDay.objects.order_by("day", "team", "account", "gpu_model", "currency")
        cells = [{name: value for name, value in cell.items() if name != "id"} for cell in days.values()]
        return [
            list(GpuHour.objects.order_by(*order).values()),
            list(GpuHourCost.objects.order_by(*order).values()),
            cells,
        ]

    step_by_step = rows()
    for table in (GpuHour, GpuHourCost, TeamDay, MeteredSpan):
        table.objects.all().delete()
    world.settle(text(now))
    assert rows() == step_by_step, "in one go it comes out as in steps"
