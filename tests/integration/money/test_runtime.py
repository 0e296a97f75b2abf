"""The door `runtime`."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

from django.core.management import call_command

from people.models import Organization
from tests.support.money_world import World


def runtime(*options: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("runtime", *options, "--json", stdout=out)
    answer: list[dict[str, Any]] = json.loads(out.getvalue())
    return answer


def test_the_ledger_of_a_month(world: World) -> None:
    Organization.objects.update_or_create(pk=1, defaults={"hours_per_month": 720})
    states = [
        ("2025-06-01T00:00", "running"), ("2025-06-01T10:00", "stopped"), ("2025-06-11T00:00", "running"),
        ("2025-06-11T06:00", "terminated"),
    ]  # fmt: skip
    disk = {"size_gb": "500", "price_per_gb_month": "0.08", "from": "2025-06-01T00:00:00Z"}
    world.instance("i-1", states, price="1.006", disks=[disk])
    world.instance("i-2", [("2025-05-31T23:00", "running")])
    world.settle("2025-06-12T00:30")
    assert runtime("--month", "2025-06") == [
        {
            "instance": "i-1",
            "account": "acct",
            "intervals": [
                {"start": "2025-06-01T00:00:00Z", "end": "2025-06-01T10:00:00Z", "state": "running"},
                {"start": "2025-06-01T10:00:00Z", "end": "2025-06-11T00:00:00Z", "state": "stopped"},
                {"start": "2025-06-11T00:00:00Z", "end": "2025-06-11T06:00:00Z", "state": "running"},
            ],
            "hours": "16.00",
            "provisional": "29.762666667",
            "billed": "0.00",
            "difference": None,
            "currency": "USD",
        },
        {
            "instance": "i-2",
            "account": "acct",
            "intervals": [{"start": "2025-06-01T00:00:00Z", "end": "2025-06-12T00:30:00Z", "state": "running"}],
            "hours": "264.50",
            "provisional": None,
            "billed": "0.00",
            "difference": None,
            "currency": "USD",
        },
    ]


def test_an_instance_is_in_no_month_before_its_launch(world: World) -> None:
    world.instance("i-1", [("2025-06-01T00:00", "running")], price="1")
    world.settle("2025-06-02T00:00")
    assert runtime("--month", "2025-05") == []
    assert [one["hours"] for one in runtime("--month", "2025-06", "--at", "2025-06-01T05:00:00Z")] == ["5.00"]
