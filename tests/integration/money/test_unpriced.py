"""The finding `unpriced`."""

from __future__ import annotations

from decimal import Decimal

import pytest

from billing.actions.unpriced import sync_unpriced
from billing.models import InstancePrice
from fleet.models import Finding
from tests.support.money_world import World, utc
from tests.support.two_at_once import two_at_once


def test_a_running_instance_without_a_price_is_found_and_closed_with_its_price(world: World) -> None:
    box = world.instance("i-own", [("2025-06-01T00:00", "running")], purchase_option="owned", owner="dev@example.com")
    world.instance("i-paid", [("2025-06-01T00:00", "running")], price="1")
    world.instance("i-off", [("2025-06-01T00:00", "stopped")])
    assert sync_unpriced(now=utc("2025-06-01T05:00")) == 1
    [found] = Finding.objects.filter(kind="unpriced")
    assert (found.subject_name, found.since, found.closed_at) == ("i-own", utc("2025-06-01T00:00"), None)
    assert found.evidence["purchase_option"] == "owned"
    assert sync_unpriced(now=utc("2025-06-01T05:05")) == 1
    InstancePrice.objects.create(
        instance=box, valid_from=utc("2025-06-01T05:06"), price_per_hour=Decimal(1), currency="USD"
    )
    assert sync_unpriced(now=utc("2025-06-01T05:10")) == 0
    [found] = Finding.objects.filter(kind="unpriced")
    assert found.closed_at == utc("2025-06-01T05:10")


def test_a_host_that_no_account_knows_has_the_list_price_of_its_gpus(world: World) -> None:
    from billing.actions.price_book import load_suggested
    from billing.queries.prices import Prices
    from fleet.models import Gpu, GpuPlacement, Instance

    load_suggested()
    assert load_suggested() == 0
    since = utc("2025-06-01T00:00")
    host = Instance.objects.create(external_id="node-9", host="node-9", first_seen_at=since)
    for index in range(2):
        gpu = Gpu.objects.create(
            uuid=f"GPU-{index}", index=index, model="H100-SXM5-80GB", host="node-9", instance=host, first_seen_at=since,
            last_seen_at=since,
        )  # fmt: skip
        GpuPlacement.objects.create(gpu=gpu, start=since, host="node-9", instance=host)
    price = Prices([host.pk]).prices([host.pk], since)[host.pk]
    assert (price.per_hour, price.currency, price.is_list_price) == (Decimal("10.145"), "USD", True)
    assert sync_unpriced(now=utc("2025-06-01T00:05")) == 0
    assert not Finding.objects.filter(kind="unpriced").exists()


@pytest.mark.django_db(transaction=True)
def test_two_passes_at_once_open_one_finding(world: World) -> None:
    world.instance("i-own", [("2025-06-01T00:00", "running")], purchase_option="owned")
    two_at_once(lambda: sync_unpriced(now=utc("2025-06-01T05:00")))
    assert Finding.objects.filter(kind="unpriced").count() == 1


def test_making_costs_of_the_past_opens_and_closes_no_finding(world: World) -> None:
    world.instance("i-own", [("2025-06-01T00:00", "running")], purchase_option="owned")
    sync_unpriced(now=utc("2025-06-03T00:00"))
    world.settle("2025-05-20T06:00")  # a back-fill of a time before it ran
    [found] = Finding.objects.filter(kind="unpriced")
    assert found.closed_at is None
