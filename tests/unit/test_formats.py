"""Numbers as people read them."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from common import formats
from common.words import duration

NB = "\u00a0"


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("1672930.19", "USD", "$1,672,930.19"),
        ("0", "USD", "$0.00"),
        ("-3", "EUR", "−€3.00"),
        ("0.125", "USD", "$0.12"),
        ("0.135", "USD", "$0.14"),
        ("-0.004", "USD", "$0.00"),
        ("12", "CNY", f"CNY{NB}12.00"),
    ],
)
def test_money_has_two_decimals_rounded_half_to_even(amount: str, currency: str, text: str) -> None:
    assert formats.money(Decimal(amount), currency) == text


def test_unknown_is_a_dash_and_never_zero() -> None:
    assert formats.money(None, "USD") == formats.percent(None) == formats.hours(None) == formats.count(None) == "—"


@pytest.mark.parametrize(
    ("amount", "text"),
    [(2_690_000, f"$2.69{NB}M"), (999_949, f"$999.9{NB}k"), (999_950, f"$1.00{NB}M"), (14_053, f"$14.1{NB}k"),
     (9_721, "$9,721"), (12.5, "$12.50"), (-44_531, f"−$44.5{NB}k"), (0, "$0.00")],
)  # fmt: skip
def test_short_money_keeps_three_digits(amount: float, text: str) -> None:
    assert formats.short_money(amount, "USD") == text


@pytest.mark.parametrize(
    ("hours", "text"), [(0, "0"), (0.01, "< 0.1"), (0.5, "0.5"), (12, "12"), (99.96, "100"), (21_866.4, "21,866")]
)
def test_hours(hours: float, text: str) -> None:
    assert formats.hours(hours) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [({"seconds": 45}, f"45{NB}s"), ({"minutes": 59, "seconds": 59}, f"59{NB}min"),
     ({"hours": 3, "minutes": 30}, f"3{NB}h 30{NB}min"),
     ({"hours": 2}, f"2{NB}h"), ({"days": 2, "hours": 4, "minutes": 50}, f"2{NB}d 4{NB}h"), ({"days": 3}, f"3{NB}d"),
     ({"seconds": -5}, f"0{NB}s")],
)  # fmt: skip
def test_durations_have_two_units_at_most(span: dict[str, int], text: str) -> None:
    assert duration(timedelta(**span)) == text
