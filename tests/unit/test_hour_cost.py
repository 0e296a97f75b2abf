"""Money of an hour: rounded once, split to the last unit, at each moment the price in force."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from billing.domain.hour_cost import amount_units, running_units, split_groups
from billing.domain.instance_hour import Amount, hour_money
from billing.domain.prices import Hourly, Segment
from common.money import split

HOUR = timedelta(hours=1)
START = datetime(2025, 6, 1, tzinfo=UTC)


def at(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def usd(price: str, currency: str = "USD", *, is_list: bool = False) -> Hourly:
    return Hourly(Decimal(price), currency, "contract", is_list)


groups = st.lists(
    st.tuples(
        st.integers(-(10**17), 10**18), st.lists(st.integers(0, 8 * 3_600_000), min_size=1, max_size=12).filter(any)
    ),
    min_size=1,
    max_size=5,
)


@given(groups)
def test_the_split_on_arrays_is_the_split_of_values(groups: list[tuple[int, list[int]]]) -> None:
    amounts = np.array([amount for amount, _ in groups])
    group = np.repeat(np.arange(len(groups)), [len(weights) for _, weights in groups])
    weights = np.concatenate([weights for _, weights in groups])
    parts = split_groups(amounts, group, weights)
    expected = [
        int(part.scaleb(9)) for amount, weights in groups for part in split(Decimal(amount).scaleb(-9), weights)
    ]
    assert parts.tolist() == expected


def test_a_group_without_weight_gets_nothing() -> None:
    parts = split_groups(np.array([100, 100]), np.array([0, 0, 1]), np.array([0, 0, 5]))
    assert parts.tolist() == [0, 0, 100]


def test_price_times_time_is_rounded_once_half_to_even() -> None:
    assert amount_units([(Decimal("1.006"), 3_600_000)]) == 1_006_000_000
    assert amount_units([(Decimal(1), 1_200_000)]) == 333_333_333
    assert amount_units([(Decimal("0.000000001"), 1_800_000)]) == 0
    assert amount_units([(Decimal("0.000000003"), 1_800_000)]) == 2
    assert amount_units([(Decimal("0.000000001"), 1_800_000)] * 2) == 1


@given(st.fractions(0, 100), st.lists(st.integers(0, 10**10), min_size=2, max_size=20).map(sorted))
def test_steps_of_a_running_total_sum_to_the_whole(rate: Fraction, times: list[int]) -> None:
    steps = [running_units(rate, a, b) for a, b in pairwise(times)]
    assert sum(steps) == running_units(rate, times[0], times[-1])
    assert min(steps) >= 0


def test_each_moment_has_its_price() -> None:
    prices = [Segment(at(-600), at(15), usd("1")), Segment(at(15), at(45), None), Segment(at(45), None, usd("4"))]
    money = hour_money([(at(-60), at(120), True, "running")], prices, START, START + HOUR)
    assert money.amounts == [Amount("USD", 1_250_000_000, 0, False)]
    assert (money.running_ms, money.unpriced_ms) == (3_600_000, 1_800_000)


def test_what_is_stopped_costs_nothing_unless_the_provider_bills_it() -> None:
    prices = [Segment(at(-600), None, usd("6", is_list=True))]
    stays = [
        (at(0), at(20), True, "running"), (at(20), at(30), True, "stopping"), (at(30), at(40), False, "stopped"),
        (at(40), at(60), False, "stopped_billed"),
    ]  # fmt: skip
    money = hour_money(stays, prices, START, START + HOUR)
    assert money.amounts == [Amount("USD", 3_000_000_000, 2_000_000_000, True)]
    assert (money.running_ms, money.unpriced_ms) == (1_800_000, 0)


def test_currencies_stay_apart() -> None:
    prices = [Segment(at(-600), at(30), usd("1", "EUR")), Segment(at(30), None, usd("1", "CNY"))]
    money = hour_money([(at(0), at(60), True, "running")], prices, START, START + HOUR)
    assert [(one.currency, one.running) for one in money.amounts] == [("CNY", 500_000_000), ("EUR", 500_000_000)]
