"""Sums of a month: nothing is lost, unknown is not zero, unpriced is not free."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from billing.domain.month_spend import HOUR_MS, MONEY_STATES, TIME_STATES, MonthSpend, total_of

amounts = st.decimals(min_value=0, max_value=10**9, places=9)
spends = st.builds(
    MonthSpend,
    st.dictionaries(st.sampled_from(MONEY_STATES), amounts),
    amounts,
    amounts,
    st.dictionaries(st.sampled_from(TIME_STATES), st.integers(0, 10**12)),
    st.integers(0, 10**12),
    st.integers(0, 10**6),
)


@given(st.lists(spends, max_size=8))
def test_parts_sum_to_the_total_to_the_last_digit(parts: list[MonthSpend]) -> None:
    whole = total_of(parts)
    assert whole.total == sum((part.total for part in parts), Decimal(0))
    assert whole.total == sum((whole.of(state) for state in MONEY_STATES), Decimal(0)) + whole.beside
    assert whole.unpriced_ms == sum(part.unpriced_ms for part in parts)
    for state in TIME_STATES:
        assert whole.ms[state] == sum(part.ms.get(state, 0) for part in parts) if parts else True


def test_the_working_share_is_over_what_was_seen() -> None:
    spend = MonthSpend(ms={"working": 6 * HOUR_MS, "low": HOUR_MS, "held": 3 * HOUR_MS, "unknown": 90 * HOUR_MS})
    assert spend.working_pct == 70.0
    assert MonthSpend(ms={"unknown": HOUR_MS}).working_pct is None


def test_time_without_a_price_is_unpriced_and_not_free() -> None:
    assert MonthSpend(ms={"working": 1}, unpriced_ms=1).is_unpriced
    assert MonthSpend(unpriced_disk_hours=1).is_unpriced
    assert not MonthSpend({"working": Decimal(1)}, unpriced_ms=1).is_unpriced
    assert not MonthSpend(ms={"working": 1}).is_unpriced
    assert MonthSpend().is_nothing
