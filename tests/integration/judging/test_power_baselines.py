"""Cards that report activity while idle are judged by power too, against what their own kind draws at rest."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.actions.idle_runs import update_idle_runs
from fleet.actions.judge import judge_fleet
from fleet.models import Gpu, IdleRun, PowerBaseline
from fleet.queries.verdicts import judge_at
from fleet.sentences import verdict_sentence
from tests.support.sampled_fleet import Device, NoPrices, at, machine, play

pytestmark = pytest.mark.django_db
REST: dict[str, Any] = {"gpu_util": 15, "power_watts": 140, "memory_mib": 300}


def amd_machine(name: str) -> Device:
    (one,) = machine(name)[1]
    known = {"vendor": "amd", "model": "MI300X-192GB", "memory_total_mib": 196_592, "power_limit_watts": 750.0}
    Gpu.objects.filter(pk=one.row.pk).update(**known)
    return one


def said(text: str) -> dict[str, tuple[str, str]]:
    rows: list[dict[str, Any]] = judge_at(at(text), NoPrices(), say=verdict_sentence)
    return {row["instance"]: (row["state"], row["reason"]) for row in rows}


def test_a_fleet_that_always_works_teaches_nothing() -> None:
    play(amd_machine("i-busy"), "00:00", "12:00", gpu_util=60, power_watts=520, memory_mib=90_000)
    play(amd_machine("i-low"), "00:00", "12:00", gpu_util=15, power_watts=140, memory_mib=90_000)
    judge_fleet(now=at("12:00"), prices=NoPrices())
    assert not PowerBaseline.objects.exists()
    assert said("12:00") == {"i-busy": ("working", "busy"), "i-low": ("unknown", "no_baseline")}


def test_low_activity_is_idle_only_near_the_power_of_a_card_at_rest() -> None:
    at_rest, held, hot, blind = (amd_machine(f"i-{name}") for name in ("rest", "held", "hot", "blind"))
    play(at_rest, "00:00", "05:00", **REST)
    play(held, "00:00", "05:00", **REST | {"memory_mib": 90_000, "power_watts": 215})
    play(hot, "00:00", "05:00", **REST | {"memory_mib": 90_000, "power_watts": 216})
    play(blind, "00:00", "05:00", gpu_util=15, memory_mib=90_000)
    judge_fleet(now=at("04:05"), prices=NoPrices())  # 49 samples of a card at rest
    assert not PowerBaseline.objects.exists()
    judge_fleet(now=at("05:00"), prices=NoPrices())

    assert [(one.model, one.watts, one.samples) for one in PowerBaseline.objects.all()] == [("MI300X-192GB", 140.0, 60)]
    wanted = {
        "i-rest": ("empty", "quiet_empty"),
        "i-held": ("held", "quiet_memory_held"),
        "i-hot": ("working", "busy"),
        "i-blind": ("unknown", "no_baseline"),
    }
    assert said("05:00") == wanted
    assert said("03:00") == wanted, "the first baseline stands for the time before it too"
    assert set(IdleRun.objects.values_list("gpu_id", flat=True)) == {at_rest.row.pk, held.row.pk}, "from the beginning"
    assert {run.since for run in IdleRun.objects.all()} == {at("00:05")}


def test_what_was_unknown_is_read_again_once_the_first_baseline_is_there() -> None:
    one = amd_machine("i-rest")
    play(one, "00:00", "03:00", **REST)
    play(one, "03:00", "04:00", gpu_util=60, power_watts=520, memory_mib=300)
    judge_fleet(now=at("04:00"), prices=NoPrices())
    assert not PowerBaseline.objects.exists()
    assert not IdleRun.objects.exists()
    play(one, "04:00", "06:00", **REST)
    judge_fleet(now=at("06:00"), prices=NoPrices())
    assert PowerBaseline.objects.get().samples == 60
    assert list(IdleRun.objects.order_by("since").values_list("since", "until")) == [
        (at("00:05"), at("03:00")),
        (at("04:00"), None),
    ]


def test_a_baseline_is_learned_again_after_a_day_and_moves_no_run_of_the_past() -> None:
    one = amd_machine("i-rest")
    play(one, "00:00", "12:00", **REST)
    update_idle_runs(until=at("12:00"))
    before = list(IdleRun.objects.values_list("since", "until"))
    play(one, "12:00", "2025-06-04T13:00", **REST | {"power_watts": 200})
    judge_fleet(now=at("2025-06-04T11:55"), prices=NoPrices())
    assert PowerBaseline.objects.count() == 1
    judge_fleet(now=at("2025-06-04T12:00"), prices=NoPrices())
    assert [one.watts for one in PowerBaseline.objects.order_by("valid_from")] == [140.0, 140.0]
    assert list(IdleRun.objects.values_list("since", "until")) == before == [(at("00:05"), None)]
