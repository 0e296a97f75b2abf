"""The doors `collect` and `backfill`: their JSON, their exit codes, what hangs on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from common.periods import iso
from fleet.models import GpuHour, Source
from people.queries import installation
from tests.integration.telemetry.conftest import T0, Fleet, at
from tests.support.gpu_history import History, every

Make = Callable[..., Fleet]
KEYS = [
    "source", "gpus", "samples", "intervals", "bad_samples", "coverage_pct", "partial", "warnings", "seconds",
]  # fmt: skip


def door(*arguments: str) -> tuple[int, Any, str]:
    out, err, code = StringIO(), StringIO(), 0
    try:
        call_command(*arguments, "--json", stdout=out, stderr=err)
    except SystemExit as left:
        code = int(left.code or 0)
    return code, json.loads(out.getvalue()), err.getvalue()


def test_collect(fleet_of: Make) -> None:
    fleet_of(History().gpu(1, every(30, T0, T0 + 600), 7))
    code, (row,), _ = door("collect", "--at", iso(at(610)))
    assert code == 0
    assert list(row) == KEYS
    assert (row["source"], row["gpus"], row["samples"], row["partial"], row["coverage_pct"]) == (
        "main",
        1,
        3,
        False,
        50,
    )
    assert door("collect", "--at", iso(at(610)), "--source", "main")[1][0]["samples"] == 0


def test_backfill_makes_hours_and_moves_no_clock(fleet_of: Make) -> None:
    fleet_of(History().gpu(1, every(30, T0, T0 + 7200), 70))
    code, (row,), err = door("backfill", "--since", iso(at(0)), "--until", iso(at(7200)))
    assert (code, row["samples"], row["intervals"], row["coverage_pct"]) == (0, 24, 24, 100)
    assert "main: 1/1 until 2025-06-03 12:00 whole" in err
    hours = GpuHour.objects.order_by("hour").values_list("hour", "working_ms", "unknown_ms")
    assert list(hours) == [(at(0), 3_600_000, 0), (at(3600), 3_600_000, 0)]
    assert installation().world_at is None
    again = door("backfill", "--since", iso(at(0)), "--until", iso(at(7200)))[1]
    assert again[0]["samples"] == 0
    assert GpuHour.objects.count() == 2


def test_a_source_that_is_down(db: None) -> None:
    Source.objects.create(name="gone", kind="prometheus", spec={"url": "http://127.0.0.1:9"})
    code, answer, err = door("collect", "--at", iso(at(0)))
    assert (code, answer["error"]["code"]) == (3, "source_down")
    assert answer["error"]["hint"]
    assert "gone: " in err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("collect", "--source", "nosuch"), "unknown_source"),
        (("collect", "--at", "2025-06-03"), "bad_time"),
        (("backfill", "--since", "2025-06-03T00:00:00Z", "--until", "2025-06-02T00:00:00Z"), "period_backwards"),
    ],
)
def test_bad_input(db: None, arguments: tuple[str, ...], code: str) -> None:
    exit_code, answer, _ = door(*arguments)
    assert (exit_code, answer["error"]["code"]) == (2, code)


def test_backfill_of_a_time_without_data(fleet_of: Make) -> None:
    fleet_of(History().gpu(1, every(30, T0, T0 + 600), 7))
    code, (row,), _ = door("backfill", "--since", iso(at(86_400)), "--until", iso(at(90_000)))
    assert (code, row["gpus"], row["samples"], row["coverage_pct"]) == (0, 0, 0, None)
