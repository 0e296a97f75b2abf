"""Provisional cost to the last digit: what ran, at which price, for whom."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from billing.models import GpuHourCost, InstanceHourCost, InstancePrice, Price, TeamDay
from fleet.models import ChangedHour, GpuHour, OwnershipRule, RemeteredHour
from people.models import Organization
from tests.support.money_world import World, sums, utc

STATES = ("working", "low", "held", "empty", "unknown", "stopped")
TIMES = tuple(f"{state}_ms" for state in STATES)
HOUR_MS = 3_600_000


def costs(**where: object) -> dict[str, Decimal]:
    return sums(GpuHourCost.objects.filter(**where), STATES)


def test_one_of_eight_gpus_idle_for_two_hours_wastes_four_dollars(world: World) -> None:
    box = world.instance("i-eight", price="16.00", gpu_count=8)
    gpus = [world.gpu(box, index) for index in range(8)]
    for index, gpu in enumerate(gpus):
        world.sample(gpu, "2025-06-03T10:00", "2025-06-03T12:00", 0 if index == 5 else 90)
    world.is_idle(gpus[5], "2025-06-03T10:00")
    world.settle("2025-06-03T12:00")
    window = {"hour__gte": utc("2025-06-03T10:00")}
    assert costs(gpu_ref=gpus[5].pk, **window)["held"] == Decimal("4.00")
    assert costs(**window) == {
        "working": Decimal(28), "low": 0, "held": Decimal(4), "empty": 0, "unknown": 0, "stopped": 0,
    }  # fmt: skip
    times = sums(GpuHour.objects.filter(**window), TIMES)
    assert (times["held_ms"], times["working_ms"]) == (2 * HOUR_MS, 14 * HOUR_MS)


def test_an_early_burst_then_five_idle_hours_cost_twenty_dollars(world: World) -> None:
    box = world.instance("i-burst", price="4.00")
    gpu = world.gpu(box)
    world.sample(gpu, "2025-06-03T08:00", "2025-06-03T09:00", 92)
    world.sample(gpu, "2025-06-03T09:00", "2025-06-03T14:00", 0)
    world.is_idle(gpu, "2025-06-03T09:00")
    world.settle("2025-06-03T14:00")
    day = {"hour__gte": utc("2025-06-03T08:00")}
    assert costs(**day)["held"] == Decimal("20.00")
    assert costs(**day)["working"] == Decimal("4.00")
    # from the launch to the first sample nothing is known, and it cost all the same
    assert costs(hour__lt=utc("2025-06-03T08:00"))["unknown"] == Decimal("96.00")


def test_a_stopped_machine_pays_for_its_disk_only(world: World) -> None:
    Organization.objects.update_or_create(pk=1, defaults={"hours_per_month": 720})
    states = [
        ("2025-06-01T00:00", "running"), ("2025-06-01T10:00", "stopped"), ("2025-06-11T00:00", "running"),
        ("2025-06-11T06:00", "terminated"),
    ]  # fmt: skip
    disk = {"size_gb": "500", "price_per_gb_month": "0.08", "from": "2025-06-01T00:00:00Z"}
    world.instance("i-1", states, price="1.006", disks=[disk])
    world.settle("2025-06-12T00:00")
    assert costs() == {"working": 0, "low": 0, "held": 0, "empty": 0, "unknown": Decimal("16.096"), "stopped": 0}
    storage = InstanceHourCost.objects.filter(kind="storage")
    assert sums(storage, ["amount"])["amount"] == Decimal("13.666666667")
    assert storage.count() == 246


def test_a_month_of_disk_is_exact_by_the_default_month_too(world: World) -> None:
    disk = {
        "size_gb": "500",
        "price_per_gb_month": "0.08",
        "from": "2025-06-01T00:00:00Z",
        "to": "2025-06-11T06:00:00Z",
    }
    world.instance("i-1", [("2025-06-01T00:00", "stopped")], disks=[disk])
    world.settle("2025-06-12T00:00")
    assert sums(InstanceHourCost.objects.all(), ["amount"])["amount"] == round(Decimal(500) * 8 / 100 * 246 / 730, 9)


def test_a_disk_that_stays_after_its_machine_goes_on_to_its_end(world: World) -> None:
    disk = {"size_gb": "730", "price_per_gb_month": "1", "from": "2025-06-01T00:00:00Z", "to": "2025-06-01T12:00:00Z"}
    world.instance("i-1", [("2025-06-01T00:00", "running"), ("2025-06-01T02:00", "terminated")], disks=[disk])
    world.settle("2025-06-02T00:00")
    assert sums(InstanceHourCost.objects.all(), ["amount"])["amount"] == Decimal(12)


def test_a_disk_without_a_price_is_unpriced_and_one_in_the_price_list_is_not(world: World) -> None:
    states = [("2025-06-01T00:00", "stopped")]
    world.instance("i-1", states, disks=[{"size_gb": "730", "from": "2025-06-01T00:00:00Z", "sku": "gp3"}])
    world.settle("2025-06-01T02:00")
    assert [row.amount for row in InstanceHourCost.objects.all()] == [None, None]
    Price.objects.create(
        provider="on-prem", sku="gp3", unit="gb_month", price=Decimal("0.5"), currency="USD",
        valid_from=utc("2025-06-01T01:30"), source="contract",
    )  # fmt: skip
    world.settle("2025-06-01T03:00")
    rows = InstanceHourCost.objects.order_by("hour").values_list("amount", flat=True)
    assert list(rows) == [None, Decimal("0.25"), Decimal("0.5")]


def test_stopped_but_billed_compute_stands_under_stopped(world: World) -> None:
    states = [("2025-06-01T00:00", "running"), ("2025-06-01T01:20", "stopped_billed"), ("2025-06-01T02:00", "stopped")]
    world.instance("i-oci", states, price="3.00", gpu_count=2)
    world.settle("2025-06-01T03:00")
    assert costs() == {"working": 0, "low": 0, "held": 0, "empty": 0, "unknown": Decimal(4), "stopped": Decimal(2)}


def test_a_price_that_changes_within_the_hour_holds_from_its_moment(world: World) -> None:
    box = world.instance("i-1", [("2025-06-01T00:00", "running")], price="1.00")
    InstancePrice.objects.create(
        instance=box, valid_from=utc("2025-06-01T00:15"), price_per_hour=Decimal("3.00"), currency="USD"
    )
    world.settle("2025-06-01T02:00")
    rows = GpuHourCost.objects.order_by("hour").values_list("unknown", flat=True)
    assert list(rows) == [Decimal("2.5"), Decimal(3)]


def test_a_price_that_changes_its_currency_within_the_hour_makes_two_rows_and_counts_time_once(world: World) -> None:
    box = world.instance("i-1", [("2025-06-01T00:00", "running")], price="1.00")
    InstancePrice.objects.create(
        instance=box, valid_from=utc("2025-06-01T00:30"), price_per_hour=Decimal("2.00"), currency="EUR"
    )
    world.settle("2025-06-01T01:00")
    assert dict(GpuHourCost.objects.values_list("currency", "unknown")) == {"USD": Decimal("0.5"), "EUR": Decimal(1)}
    assert sums(TeamDay.objects.all(), ["unknown_ms"]) == {"unknown_ms": HOUR_MS}
    assert dict(TeamDay.objects.values_list("currency", "compute_unknown")) == {
        "USD": Decimal("0.5"),
        "EUR": Decimal(1),
    }


def test_without_a_price_there_is_no_amount_and_never_nought(world: World) -> None:
    box = world.instance("i-own", [("2025-06-01T00:00", "running")], purchase_option="owned")
    world.settle("2025-06-01T01:00")
    [row] = GpuHourCost.objects.filter(instance=box)
    assert (row.unknown, row.working, row.unpriced_ms) == (None, None, HOUR_MS)
    [cell] = TeamDay.objects.all()
    assert (cell.compute_unknown, cell.unpriced_ms, cell.unknown_ms) == (0, HOUR_MS, HOUR_MS)


def test_half_an_hour_priced_is_the_priced_half(world: World) -> None:
    box = world.instance("i-1", [("2025-06-01T00:00", "running")], gpu_count=3)
    InstancePrice.objects.create(
        instance=box, valid_from=utc("2025-06-01T00:30"), price_per_hour=Decimal("2.00"), currency="USD"
    )
    world.settle("2025-06-01T01:00")
    [row] = GpuHourCost.objects.all()
    assert (row.unknown, row.unpriced_ms) == (Decimal(1), 3 * HOUR_MS // 2)


def test_pods_that_share_a_gpu_never_cost_more_than_the_node(world: World) -> None:
    node = world.instance("node-ts", [("2025-06-03T00:00", "running")], price="1.20")
    gpu = world.gpu(node)
    world.team("red")
    world.team("blue")
    OwnershipRule.objects.create(
        valid_from=utc("1970-01-01T00:00"), position=0, spec={"team_from": {"label": "namespace"}}
    )
    world.sample(gpu, "2025-06-03T00:00", "2025-06-03T10:00", 60)
    for pod, team in (("p1", "red"), ("p2", "red"), ("p3", "blue")):
        world.job([gpu], f"{team}/{pod}", "2025-06-03T00:00", namespace=team)
    world.settle("2025-06-03T10:00")
    by_team = dict.fromkeys(["red", "blue"], Decimal(0))
    for hour in GpuHour.objects.select_related("team"):
        assert hour.team is not None
        by_team[hour.team.name] += GpuHourCost.objects.get(
            hour=hour.hour, instance=node, gpu_ref=hour.gpu_ref, share=hour.share
        ).working
    assert by_team == {"red": Decimal(8), "blue": Decimal(4)}


def test_a_machine_that_changes_team_leaves_its_past_where_it_was(world: World) -> None:
    red, blue = world.team("red"), world.team("blue")
    OwnershipRule.objects.create(valid_from=utc("1970-01-01T00:00"), position=0, spec={"team_from": {"tag": "team"}})
    box = world.instance("r-9", [("2025-06-13T00:00", "running")], price="0.416666666", tags={"team": "red"})
    box.versions.create(
        valid_from=utc("2025-06-16T00:00"), attributes={"provider": "on-prem", "gpu_count": 1, "tags": {"team": "blue"}}
    )
    world.settle("2025-06-19T00:00")
    days = dict(TeamDay.objects.filter(team=red).values_list("day", "compute_unknown"))
    assert {day.day for day in days} == {13, 14, 15}
    assert {day.day for day in TeamDay.objects.filter(team=blue).values_list("day", flat=True)} == {16, 17, 18}
    assert sum(days.values()) == sums(TeamDay.objects.filter(team=blue), ["compute_unknown"])["compute_unknown"]


def test_days_are_cut_in_the_organisations_zone_through_the_end_of_summer_time(world: World) -> None:
    Organization.objects.update_or_create(pk=1, defaults={"time_zone": "America/Los_Angeles"})
    world.instance("i-1", [("2025-11-01T00:00", "running"), ("2025-11-03T12:00", "terminated")], price="1.00")
    world.settle("2025-11-04T00:00")
    days = dict(TeamDay.objects.order_by("day").values_list("day", "compute_unknown"))
    assert days == {
        date(2025, 10, 31): Decimal(7), date(2025, 11, 1): Decimal(24), date(2025, 11, 2): Decimal(25),
        date(2025, 11, 3): Decimal(4),
    }  # fmt: skip


def test_a_half_hour_zone_cuts_the_hour_at_midnight(world: World) -> None:
    Organization.objects.update_or_create(pk=1, defaults={"time_zone": "Asia/Kolkata"})
    box = world.instance("i-1", [("2025-06-01T18:00", "running")], price="2.00")
    gpu = world.gpu(box, since="2025-06-01T18:00")
    world.sample(gpu, "2025-06-01T18:00", "2025-06-01T18:30", 90)
    world.settle("2025-06-01T19:00")
    cells = {cell.day: (cell.compute_working, cell.compute_unknown) for cell in TeamDay.objects.all()}
    assert cells == {date(2025, 6, 1): (Decimal(1), 0), date(2025, 6, 2): (0, Decimal(1))}


def test_a_second_pass_changes_nothing_and_marks_are_consumed(world: World) -> None:
    box = world.instance("i-1", [("2025-06-01T00:00", "running")], price="2.00")
    gpu = world.gpu(box, since="2025-06-01T00:00")
    world.sample(gpu, "2025-06-01T00:00", "2025-06-01T03:00", 90)
    first = world.settle("2025-06-01T02:30")
    assert (first.hours, first.rows_written, first.is_complete) == (3, 3, True)
    before = list(GpuHourCost.objects.order_by("hour").values())
    again = world.settle("2025-06-01T02:30")
    assert (again.hours, again.rows_written, again.rows_removed) == (0, 0, 0)
    assert list(GpuHourCost.objects.order_by("hour").values()) == before
    assert (ChangedHour.objects.count(), RemeteredHour.objects.count()) == (0, 0)
    later = world.settle("2025-06-01T03:00")
    assert (later.hours, later.rows_written) == (1, 1)
    assert costs()["working"] == Decimal(6)


def test_hours_that_no_longer_apply_go(world: World) -> None:
    box = world.instance("i-1", [("2025-06-01T00:00", "running")], price="2.00")
    world.settle("2025-06-01T05:00")
    box.states.update(end=utc("2025-06-01T02:00"))
    box.states.create(start=utc("2025-06-01T02:00"), state="terminated")
    for hour in range(2, 5):
        ChangedHour.objects.create(instance=box, hour=utc(f"2025-06-01T0{hour}:00"))
    world.settle("2025-06-01T05:00")
    assert costs()["unknown"] == Decimal(4)
    assert GpuHour.objects.count() == 2
    assert sums(TeamDay.objects.all(), ["compute_unknown"])["compute_unknown"] == Decimal(4)


def test_a_machine_without_gpus_costs_all_the_same(world: World) -> None:
    world.instance("login", [("2025-06-01T00:00", "running")], price="0.50", gpu_count=0)
    world.settle("2025-06-01T03:00")
    assert GpuHour.objects.count() == 0
    assert sums(InstanceHourCost.objects.filter(kind="compute"), ["amount"])["amount"] == Decimal("1.5")
    assert sums(TeamDay.objects.all(), ["compute_unknown"])["compute_unknown"] == Decimal("1.5")


def test_a_sample_of_a_slow_scrape_fills_the_hour_before_when_it_comes_in(world: World) -> None:
    box = world.instance("i-1", [("2025-06-01T00:00", "running")], price="2.00")
    gpu = world.gpu(box, since="2025-06-01T00:00")
    first, second = utc("2025-06-01T00:40"), utc("2025-06-01T01:10")
    world.samples[gpu.pk, int(first.timestamp())] = (90, 40_000, 30)
    world.settle("2025-06-01T01:00")
    hour = GpuHour.objects.get(gpu_ref=gpu.pk)
    assert (hour.working_ms, hour.unknown_ms) == (1_800_000, 1_800_000)
    world.samples[gpu.pk, int(second.timestamp())] = (90, 40_000, 30)
    world.settle("2025-06-01T01:10")
    working = GpuHour.objects.filter(gpu_ref=gpu.pk).order_by("hour").values_list("working_ms", flat=True)
    assert list(working) == [3_000_000, 600_000]
    assert costs()["working"] == Decimal(2)


def test_a_new_price_reaches_a_disk_that_outlived_its_machine(world: World) -> None:
    disk = {"size_gb": "730", "sku": "gp3", "from": "2025-06-01T00:00:00Z", "to": "2025-06-01T04:00:00Z"}
    world.instance("i-1", [("2025-06-01T00:00", "running"), ("2025-06-01T02:00", "terminated")], disks=[disk])
    world.settle("2025-06-01T06:00")
    assert set(InstanceHourCost.objects.values_list("amount", flat=True)) == {None}
    Price.objects.create(
        sku="gp3",
        unit="gb_month",
        price=Decimal(1),
        currency="USD",
        valid_from=utc("1970-01-01T00:00"),
        source="manual",
    )
    world.settle("2025-06-01T06:00")
    assert list(InstanceHourCost.objects.values_list("amount", flat=True)) == [Decimal(1)] * 4
