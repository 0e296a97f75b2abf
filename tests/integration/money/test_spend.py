"""The door `spend`: shapes, sums, zones, what is unassigned and what is unpriced."""

from __future__ import annotations

import json
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from billing.models import Price
from fleet.models import OwnershipRule
from people.models import Organization
from tests.support.money_world import World, utc

BEGINNING = utc("1970-01-01T00:00")


def spend(*options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("spend", *options, "--json", stdout=out)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def refused(*options: str) -> dict[str, Any]:
    out = StringIO()
    with pytest.raises(SystemExit) as exit_:
        call_command("spend", *options, "--json", stdout=out, stderr=StringIO())
    assert exit_.value.code == 2
    error: dict[str, Any] = json.loads(out.getvalue())["error"]
    return error


def by(answer: dict[str, Any], *names: str) -> dict[Any, str | None]:
    keys = [tuple(row["key"][name] for name in names) for row in answer["rows"]]
    return dict(
        zip([key[0] if len(key) == 1 else key for key in keys], [row["total"] for row in answer["rows"]], strict=True)
    )


def assert_sums(answer: dict[str, Any]) -> None:
    totals: dict[str, Decimal] = {}
    for row in answer["rows"]:
        if row["total"] is None:
            continue
        totals[row["currency"]] = totals.get(row["currency"], Decimal(0)) + Decimal(row["total"])
        assert Decimal(row["total"]) == sum(Decimal(part) for part in row["by_kind"].values() if part is not None)
        if row["by_kind"]["compute"] is not None:
            assert Decimal(row["by_kind"]["compute"]) == sum(Decimal(part) for part in row["by_state"].values())
    assert totals == {currency: Decimal(amount) for currency, amount in answer["totals"].items()}


@pytest.fixture
def fleet(world: World) -> World:
    """Two teams, an instance without a team, one without a price, one in euros, a disk."""
    nlp = world.team("nlp", cost_center="CC-100")
    world.team("vision", parent=nlp)
    OwnershipRule.objects.create(valid_from=BEGINNING, position=0, spec={"team_from": {"tag": "team"}})
    aws = world.account("aws-1", "aws")
    day = [("2025-06-01T00:00", "running")]
    disk = {"size_gb": "730", "price_per_gb_month": "0.10", "from": "2025-06-01T00:00:00Z"}
    one = world.instance(
        "i-1", day, price="16.00", gpu_count=8, account=aws, tags={"team": "nlp"}, owner="dev@example.com",
        sku="p5.48xlarge", sub_account="proj", disks=[disk], gpu_model="H100-SXM5-80GB",
    )  # fmt: skip
    world.instance("i-2", day, price="1.00", account=aws, tags={"team": "vision"}, sku="g5.xlarge")
    world.instance("i-3", day, price="2.00", account=aws)
    world.instance("i-own", day, tags={"team": "vision"}, purchase_option="owned")
    world.instance("i-eur", day, price="3.00", currency="EUR", tags={"team": "nlp"})
    gpu = world.gpu(one, since="2025-06-01T00:00", model="H100-SXM5-80GB")
    world.sample(gpu, "2025-06-01T00:00", "2025-06-02T00:00", 90)
    job = world.job([gpu], "nlp-a/train", "2025-06-01T06:00", "2025-06-01T12:00", owner="job@example.com")
    assert job.pk
    world.settle("2025-06-02T00:00")
    return world


def test_a_month_by_team(fleet: World) -> None:
    answer = spend("--month", "2025-06")
    assert answer["period"] == {"start": "2025-06-01T00:00:00Z", "end": "2025-07-01T00:00:00Z", "time_zone": "UTC"}
    assert (answer["basis"], answer["cut"], answer["billed_share_pct"]) == ("effective", "usage", 0.0)
    assert [(row["key"]["team"], row["special"], row["currency"], row["total"]) for row in answer["rows"]] == [
        ("nlp", None, "EUR", "72.00"),
        ("nlp", None, "USD", "386.40"),
        ("vision", None, "USD", "24.00"),
        (None, "unassigned", "USD", "48.00"),
    ]
    assert answer["totals"] == {"EUR": "72.00", "USD": "458.40"}
    nlp = answer["rows"][1]
    assert nlp["by_kind"] == {"compute": "384.00", "storage": "2.40", "network": "0.00", "other": "0.00"}
    assert nlp["by_state"] == {
        "working": "48.00", "low": "0.00", "held": "0.00", "empty": "0.00", "unknown": "336.00", "stopped": "0.00",
    }  # fmt: skip
    assert nlp["gpu_hours"] == {
        "working": "24.00", "low": "0.00", "held": "0.00", "empty": "0.00", "unknown": "168.00",
    }  # fmt: skip
    vision = answer["rows"][2]
    assert (vision["gpu_hours"]["unknown"], vision["unpriced_gpu_hours"]) == ("48.00", "24.00")
    assert_sums(answer)


def test_what_has_no_price_at_all_has_no_amount(fleet: World) -> None:
    answer = spend("--month", "2025-06", "--group-by", "instance")
    own = next(row for row in answer["rows"] if row["key"]["instance"] == "i-own")
    assert (own["total"], own["gross"], own["provisional"], own["by_kind"]["compute"]) == (None, None, None, None)
    assert own["by_state"]["unknown"] is None
    assert own["gpu_hours"]["unknown"] == "24.00"
    assert_sums(answer)


@pytest.mark.parametrize(
    ("group_by", "expected"),
    [
        ("cost_center", {"CC-100": "386.40", None: "72.00"}),
        ("account", {"aws-1": "458.40", "acct": None}),
        ("sub_account", {"proj": "386.40", None: "72.00"}),
        ("provider", {"aws": "458.40", "on-prem": None}),
        ("sku", {"p5.48xlarge": "386.40", "g5.xlarge": "24.00", None: "48.00"}),
        ("gpu_model", {"H100-SXM5-80GB": "384.00", None: "74.40"}),
        ("day", {"2025-06-01": "458.40"}),
        ("month", {"2025-06": "458.40"}),
        ("job", {"nlp-a/train": "12.00", None: "446.40"}),
        ("owner", {"dev@example.com": "374.40", "job@example.com": "12.00", None: "72.00"}),
    ],
)
def test_every_grouping_sums_to_the_same(fleet: World, group_by: str, expected: dict[str | None, str | None]) -> None:
    answer = spend("--month", "2025-06", "--group-by", group_by)
    assert by({"rows": [row for row in answer["rows"] if row["currency"] == "USD"]}, group_by) == expected
    assert answer["totals"] == {"EUR": "72.00", "USD": "458.40"}
    assert_sums(answer)


def test_hours_and_days_say_the_same(fleet: World) -> None:
    from_days = spend("--month", "2025-06", "--group-by", "team,account,provider,gpu_model,cost_center,day,month")
    from_hours = spend("--month", "2025-06", "--group-by", "team,account,provider,gpu_model,cost_center,day,month,job")
    kept = ("currency", "total", "by_kind", "by_state", "gpu_hours", "unpriced_gpu_hours")

    def without_job(answer: dict[str, Any]) -> dict[str, Any]:
        sums: dict[str, dict[str, Decimal]] = {}
        for row in answer["rows"]:
            key = json.dumps([value for name, value in row["key"].items() if name != "job"] + [row["currency"]])
            into = sums.setdefault(key, {})
            for part in kept[2:5]:
                for name, value in row[part].items():
                    into[f"{part}.{name}"] = into.get(f"{part}.{name}", Decimal(0)) + Decimal(value or 0)
        return sums

    assert without_job(from_days) == without_job(from_hours)


def test_days_of_another_zone_and_of_one_day_at_a_time(world: World) -> None:
    world.instance("i-1", [("2025-11-01T00:00", "running"), ("2025-11-03T12:00", "terminated")], price="1.00")
    world.settle("2025-11-04T00:00")
    zone = ("--time-zone", "America/Los_Angeles")
    days = {"2025-10-31": "7.00", "2025-11-01": "24.00", "2025-11-02": "25.00", "2025-11-03": "4.00"}
    whole = spend("--since", "2025-10-31", "--until", "2025-11-04", "--group-by", "day", *zone)
    assert by(whole, "day") == days
    for day, following in zip(days, [*list(days)[1:], "2025-11-04"], strict=True):
        assert spend("--since", day, "--until", following, *zone)["totals"] == {"USD": days[day]}
    assert spend("--month", "2025-10", *zone)["totals"] == {"USD": "7.00"}
    assert spend("--month", "2025-11", *zone)["totals"] == {"USD": "53.00"}
    assert spend("--month", "2025-11", "--group-by", "day")["totals"] == {"USD": "60.00"}
    assert spend("--month", "2025-10") | {"period": 0} == spend("--month", "2025-09") | {"period": 0}
    assert spend("--since", "2025-11-01T05:00:00Z", "--until", "2025-11-01T09:00:00Z")["totals"] == {"USD": "4.00"}


def test_nothing_at_all_is_no_money(world: World) -> None:
    answer = spend("--month", "2025-06")
    assert (answer["rows"], answer["totals"], answer["billed_share_pct"]) == ([], {}, None)


@pytest.mark.parametrize(
    ("options", "code", "hint"),
    [
        (("--month", "2025-06", "--group-by", "tem"), "bad_group_by", "Did you mean team?"),
        (("--month", "2025-13"), "bad_month", "Write 2025-06."),
        (("--month", "2025-06", "--since", "2025-06-01"), "bad_period", "Give one of them."),
        (("--since", "2025-06-01"), "bad_period", "Give month, like 2025-06, or since and until."),
        (("--since", "2025-06-01T00:30:00Z", "--until", "2025-06-02"), "bad_time", "Costs are kept by the hour."),
        (("--since", "2025-06-31", "--until", "2025-07-02"), "bad_time", "Write 2025-06-03."),
        (("--since", "2025-06-03", "--until", "2025-06-02"), "period_backwards", ""),
        (("--month", "2025-06", "--basis", "cash"), "bad_choice", "There are: effective, billed."),
        (("--month", "2025-06", "--cut", "bill"), "bad_choice", "There are: usage, invoice."),
        (("--month", "2025-06", "--time-zone", "Mars/Base"), "bad_time_zone", "Write Europe/Berlin."),
    ],
)
def test_bad_input_is_told_with_a_remedy(db: None, options: tuple[str, ...], code: str, hint: str) -> None:
    error = refused(*options)
    assert (error["code"], error["hint"]) == (code, hint)


def test_a_new_price_reprices_from_its_start_and_a_new_zone_recuts_the_days(world: World) -> None:
    world.instance("i-1", [("2025-06-01T00:00", "running")], gpu_model="H100-SXM5-80GB", gpu_count=2)
    world.settle("2025-06-02T00:00")
    assert spend("--month", "2025-06")["totals"] == {}
    price = Price.objects.create(
        gpu_model="H100-SXM5-80GB", unit="gpu_hour", price=Decimal("2.5"), currency="USD",
        valid_from=utc("2025-06-01T12:00"), source="contract",
    )  # fmt: skip
    world.settle("2025-06-02T00:00")
    assert spend("--month", "2025-06")["totals"] == {"USD": "60.00"}
    price.valid_to = utc("2025-06-01T18:00")
    price.save()
    world.settle("2025-06-02T00:00")
    assert spend("--month", "2025-06")["totals"] == {"USD": "30.00"}
    assert by(spend("--month", "2025-06", "--group-by", "day"), "day") == {"2025-06-01": "30.00"}
    Organization.objects.update(time_zone="Asia/Shanghai")
    world.settle("2025-06-02T00:00")
    days = by(spend("--month", "2025-06", "--group-by", "day"), "day")
    assert days == {"2025-06-01": "20.00", "2025-06-02": "10.00"}
