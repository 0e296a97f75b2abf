"""Which price holds: declared over listed, specific over general, in force at the time, never a guess."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from billing.domain.prices import Listed, Segment, choose, fits, per_gb_month, segments
from fleet.domain.price_subject import PriceSubject

AT = datetime(2025, 6, 3, 11, tzinfo=UTC)
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
P5 = PriceSubject("aws", "p5.48xlarge", "H100-SXM5-80GB", 8, "us-east-1", "on_demand")


def listed(price: str, unit: str = "instance_hour", **more: Any) -> Listed:
    return Listed(**{"valid_from": BEGINNING, "currency": "USD", "unit": unit, "price": Decimal(price), **more})


def amount(book: list[Listed], subject: PriceSubject = P5, at: datetime = AT) -> str | None:
    found = choose(book, subject, at)
    return None if found is None else str(found.per_hour)


def test_the_most_specific_price_holds() -> None:
    model = listed("7", "gpu_hour", gpu_model="H100-SXM5-80GB")
    sku = listed("55", sku="p5.48xlarge", provider="aws")
    region = listed("54", sku="p5.48xlarge", provider="aws", region="us-east-1")
    option = listed("53", sku="p5.48xlarge", provider="aws", region="us-east-1", purchase_option="on_demand")
    assert amount([model]) == "56"
    assert amount([model, sku]) == "55"
    assert amount([model, sku, region]) == "54"
    assert amount([option, model, region, sku]) == "53"


def test_a_declared_price_wins_over_any_listed_one() -> None:
    book = listed("55.04", sku="p5.48xlarge", provider="aws", region="us-east-1", gpu_count=8, is_suggested=True)
    own = listed("6", "gpu_hour", gpu_model="H100-SXM5-80GB")
    found = choose([book, own], P5, AT)
    assert found is not None
    assert (found.per_hour, found.is_list_price) == (Decimal(48), False)
    only_book = choose([book], P5, AT)
    assert only_book is not None
    assert (only_book.per_hour, only_book.is_list_price) == (Decimal("55.04"), True)


@pytest.mark.parametrize(
    "more",
    [
        {"provider": "gcp"},
        {"sku": "p4d.24xlarge"},
        {"region": "eu-west-1", "sku": "p5.48xlarge"},
        {"purchase_option": "spot", "sku": "p5.48xlarge"},
        {"gpu_model": "A100-SXM4-80GB"},
        {"gpu_count": 4, "gpu_model": "H100-SXM5-80GB"},
        {"valid_from": AT + timedelta(seconds=1), "sku": "p5.48xlarge"},
        {"valid_to": AT, "sku": "p5.48xlarge"},
    ],
)
def test_what_contradicts_is_no_price(more: dict[str, Any]) -> None:
    assert amount([listed("1", **more)]) is None


def test_spot_owned_and_reserved_are_never_priced_as_on_demand() -> None:
    book = [listed("55", provider="aws", gpu_model="H100-SXM5-80GB", purchase_option="on_demand", is_suggested=True)]
    for option, expected in (("", "55"), ("on_demand", "55"), ("spot", None), ("owned", None), ("reserved", None)):
        assert amount(book, PriceSubject("aws", "", "H100-SXM5-80GB", 8, "", option)) == expected


def test_a_listed_price_is_for_its_provider_and_one_without_for_hosts_without() -> None:
    anywhere = listed("5", "gpu_hour", gpu_model="H100-SXM5-80GB", purchase_option="on_demand", is_suggested=True)
    assert amount([anywhere], PriceSubject(gpu_model="NVIDIA H100 80GB HBM3", gpu_count=2)) == "10"
    assert amount([anywhere], PriceSubject("on-prem", "", "H100-SXM5-80GB", 8)) is None


def test_per_gpu_without_a_count_is_no_price() -> None:
    assert (
        amount([listed("5", "gpu_hour", gpu_model="H100-SXM5-80GB")], PriceSubject("x", "", "H100-SXM5-80GB")) is None
    )


def test_declared_prices_that_the_inventory_cannot_choose_between_are_none() -> None:
    east = listed("55", sku="p5.48xlarge", region="us-east-1")
    west = listed("66", sku="p5.48xlarge", region="us-west-1")
    nowhere = PriceSubject("aws", "p5.48xlarge", "", 8)
    assert amount([east, west], nowhere) is None
    assert amount([east], nowhere) == "55"
    assert amount([east, west], P5) == "55"


def test_a_price_with_a_sku_holds_for_its_model_where_no_sku_is_known() -> None:
    one = listed("55", sku="p5.48xlarge", gpu_model="H100-SXM5-80GB", gpu_count=8)
    assert fits(one, PriceSubject("aws", "", "H100-SXM5-80GB", 8))
    assert not fits(one, PriceSubject("aws", "", "", 8))
    assert not fits(
        listed("55", sku="p5.48xlarge", gpu_model="H100-SXM5-80GB"), PriceSubject("aws", "", "H100-SXM5-80GB", 8)
    )


def test_spellings_of_a_model_are_one_model() -> None:
    assert (
        amount([listed("2", "gpu_hour", gpu_model="NVIDIA A100-SXM4-80GB")], PriceSubject("x", "", "A100-SXM-80GB", 1))
        == "2"
    )


def test_prices_over_time_are_joined_stretches() -> None:
    book = [
        listed("1", sku="p5.48xlarge", valid_to=AT),
        listed("2", sku="p5.48xlarge", valid_from=AT + timedelta(days=1)),
        listed("9", sku="other", valid_from=AT + timedelta(days=2)),
    ]
    starts = [at for one in book for at in (one.valid_from, one.valid_to) if at]
    spans = segments(starts, BEGINNING, None, lambda at: choose(book, P5, at))
    assert [(span.start, span.end, span.price and span.price.per_hour) for span in spans] == [
        (BEGINNING, AT, Decimal(1)),
        (AT, AT + timedelta(days=1), None),
        (AT + timedelta(days=1), None, Decimal(2)),
    ]
    assert isinstance(spans[0], Segment)


def test_the_price_of_a_disk() -> None:
    book = [
        listed("0.10", "gb_month", provider="aws"),
        listed("0.08", "gb_month", provider="aws", sku="gp3"),
        listed("0.09", "gb_month", provider="aws", sku="gp3", region="eu-west-1"),
        listed("4.00", sku="gp3"),
    ]

    def price(provider: str, sku: str, region: str = "") -> tuple[Decimal, str] | None:
        return per_gb_month(book, provider=provider, sku=sku, region=region, at=AT)

    assert price("aws", "gp3") == (Decimal("0.08"), "USD")
    assert price("aws", "gp3", "eu-west-1") == (Decimal("0.09"), "USD")
    assert price("aws", "io2") == (Decimal("0.10"), "USD")
    assert price("gcp", "gp3") is None
