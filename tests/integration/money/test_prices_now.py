"""Prices of the present are those that the history of prices gives for the same moment."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from billing.models import InstancePrice, Price
from billing.queries.prices import Prices
from billing.queries.prices_now import PricesNow
from common.periods import BEGINNING
from fleet.models import Account, Gpu, GpuPlacement, Instance, InstanceVersion
from tests.support.money_world import utc

pytestmark = pytest.mark.django_db
START = utc("2025-06-01T00:00")


def listed(unit: str, amount: str, **about: object) -> None:
    facts = {"currency": "USD", "valid_from": BEGINNING, "source": "fleet.yaml", **about}
    Price.objects.create(unit=unit, price=Decimal(amount), **facts)


def instance(name: str, *versions: dict, gpu_count: int | None = None, models: str = "") -> Instance:
    """Make an instance whose versions begin ten days apart; ``models``: one GPU per letter, h or l."""
    account = Account.objects.get_or_create(name="lab", defaults={"kind": "static", "provider": "lab"})[0]
    row = Instance.objects.create(account=account, external_id=name, host=name, gpu_count=gpu_count)
    for index, attributes in enumerate(versions):
        start = START + timedelta(days=10 * index)
        InstanceVersion.objects.create(instance=row, valid_from=start, attributes=attributes)
    for index, letter in enumerate(models):
        for mig in ("1", "2") if letter == "h" else ("",):
            Gpu.objects.create(
                uuid=f"GPU-{name}-{index}", mig_instance=mig, model={"h": "H100", "l": "L40S"}[letter], instance=row,
                first_seen_at=START, last_seen_at=START,
            )  # fmt: skip
    return row


@pytest.mark.parametrize("day", [-1, 0, 5, 10, 15, 25])
def test_they_agree_with_the_history_at_any_time(day: int) -> None:
    listed("gpu_hour", "2.5", gpu_model="H100")
    listed("gpu_hour", "1", gpu_model="L40S", valid_to=START + timedelta(days=12))
    listed("instance_hour", "99", sku="big", region="eu")
    own = instance("own", {"sku": "big"}, {"sku": "big", "region": "eu"}, gpu_count=8)
    for days, amount in ((0, "7"), (10, None), (20, "8")):
        InstancePrice.objects.create(
            instance=own, valid_from=START + timedelta(days=days), price_per_hour=amount, currency="EUR"
        )
    instance("seen", {}, models="hhl")
    instance("tie", models="lh")
    instance("told", {"gpu_model": "H100", "gpu_count": 1.5}, {"gpu_model": "L40S", "gpu_count": 4}, models="l")
    instance("count-only", {}, gpu_count=2, models="l")
    instance("nothing")
    left, taker = instance("left", {}), instance("taker", {}, models="hh")
    for gpu in Gpu.objects.filter(instance=taker):  # what stood on "left" before keeps its price
        end = START + timedelta(days=1)
        GpuPlacement.objects.create(gpu=gpu, start=START, end=end, host="left", instance=left)
    ids, at = list(Instance.objects.values_list("pk", flat=True)), START + timedelta(days=day)
    expected = Prices(ids).prices(ids, at)
    assert PricesNow().prices(ids, at) == expected
    assert PricesNow().prices([], at) == {}
    if day == 5:
        names = dict(Instance.objects.values_list("pk", "external_id"))
        assert {names[pk]: (one.per_hour, one.currency) for pk, one in expected.items()} == {
            "own": (Decimal(7), "EUR"), "seen": (Decimal("7.5"), "USD"), "tie": (Decimal(2), "USD"),
            "told": (Decimal(5), "USD"), "count-only": (Decimal(2), "USD"), "left": (Decimal(5), "USD"),
            "taker": (Decimal(5), "USD"),
        }  # fmt: skip


def test_own_prices_take_one_question(django_assert_num_queries: object) -> None:
    rows = [instance(f"m-{index}", {}) for index in range(3)]
    for row in rows:
        InstancePrice.objects.create(instance=row, valid_from=START, price_per_hour=2, currency="USD")
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert len(PricesNow().prices([row.pk for row in rows], START)) == 3
