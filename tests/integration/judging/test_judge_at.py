"""The judge document, from stored samples: verdicts of machines, devices and jobs at a time."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from fleet.domain.ports import HourlyPrice
from fleet.models import Exemption, Gpu, GpuPlacement, Instance, InstanceState, Policy
from fleet.queries.verdicts import judge_at
from fleet.sentences import verdict_sentence
from people.models import Team
from tests.support.sampled_fleet import NoPrices, at, device, first_seen, job, machine, play

pytestmark = pytest.mark.django_db


class EightDollars:
    def prices(self, instance_ids: Any, at: Any) -> dict[int, HourlyPrice]:
        return {pk: HourlyPrice(Decimal("8.00"), "USD", "inventory") for pk in instance_ids}


def judged(text: str, prices: Any = None) -> dict[str, dict[str, Any]]:
    rows = judge_at(at(text), prices or NoPrices(), say=verdict_sentence)
    return {row["instance"]: row for row in rows}


def kinds(row: dict[str, Any]) -> list[str]:
    return [one["kind"] for one in row["findings"]]


def test_every_key_of_an_idle_machine() -> None:
    row, (one, two) = machine("i-two", gpus=2, tags={"team": "nlp"}, owner="dev@example.com")
    Team.objects.create(name="nlp")
    for gpu in (one, two):
        play(gpu, "08:00", "09:00", gpu_util=90, memory_mib=40_000, power_watts=600)
    play(one, "09:00", "11:00", gpu_util=2, memory_mib=40_000, power_watts=80)
    play(two, "09:00", "09:30", gpu_util=90, memory_mib=40_000, power_watts=600)
    play(two, "09:30", "11:00", gpu_util=0, memory_mib=40_000, power_watts=80)
    Exemption.objects.create(instance_ref="lab/i-two", reason="deadline", approver="lead@example.com")

    (found,) = judge_at(at("11:00"), EightDollars(), say=verdict_sentence)

    gpus, jobs, findings = found.pop("gpus"), found.pop("jobs"), found.pop("findings")
    assert found == {
        "instance": "i-two",
        "account": "lab",
        "host": "host-i-two",
        "provider": "aws",
        "team": None,
        "owner": "dev@example.com",
        "policy": None,
        "state": "held",
        "since": "2025-06-03T09:30:00Z",
        "minutes": 90,
        "reason": "quiet_memory_held",
        "sentence": "Idle since 09:30 UTC (1 h 30 min): peak 2 % of 2 GPUs over 60 min, coverage 100 %, memory held."
        " 12.00 USD so far, 8.00 USD per hour.",
        "confidence": "medium",
        "coverage_pct": 100.0,
        "peak_pct": 2.0,
        "mean_pct": 1.0,
        "signal": "gpu_util",
        "currency": "USD",
        "price_per_hour": "8.00",
        "idle_cost": "12.00",
        "instance_state": "running",
        "exempt": {"by": "lead@example.com", "reason": "deadline", "until": None},
        "vetoes": [],
        "stopped_but_billed": False,
    }
    assert [(gpu["since"], gpu["minutes"], gpu["state"], gpu["index"]) for gpu in gpus] == [
        ("2025-06-03T09:00:00Z", 120, "held", 0),
        ("2025-06-03T09:30:00Z", 90, "held", 1),
    ]
    assert gpus[0]["uuid"] == "GPU-i-two-0"
    assert (gpus[0]["mig_instance"], gpus[0]["model"], gpus[0]["jobs"]) == (None, "H100-SXM5-80GB", [])
    assert jobs == []
    assert [(one["kind"], one["since"], one["minutes"]) for one in findings][:1] == [("idle", found["since"], 90)]


def test_nothing_is_written(django_assert_num_queries: Any) -> None:
    _, (gpu,) = machine("i-one")
    play(gpu, "08:00", "10:00", gpu_util=0)

    def rows() -> list[tuple[str, int]]:
        with connection.cursor() as cursor:
            tables = sorted(connection.introspection.table_names(cursor))
            counts = []
            for table in tables:
                cursor.execute(f'SELECT count(*), coalesce(sum(hashtext(row::text)), 0) FROM "{table}" AS row')
                counts.append((table, *cursor.fetchone()))
            return counts

    judged("09:00")  # what is made on first use is made
    before = rows()
    judged("10:00")
    judged("08:30")
    assert rows() == before


def test_slices_of_one_card_are_kept_apart() -> None:
    row, _ = machine("i-mig", gpus=0)
    Instance.objects.filter(pk=row.pk).update(gpu_count=1)
    row.versions.update(attributes={"gpu_count": 1, "host": row.host})
    busy, idle = (device(row, 0, uuid="GPU-card", mig_instance=name) for name in ("1", "2"))
    play(busy, "09:00", "11:00", gpu_util=0, gr_engine=90)
    play(idle, "09:00", "11:00", gpu_util=0, gr_engine=0)
    found = judged("11:00")["i-mig"]
    assert (found["state"], found["reason"]) == ("working", "busy")
    assert [(gpu["mig_instance"], gpu["state"], gpu["mean_pct"], gpu["signal"]) for gpu in found["gpus"]] == [
        ("1", "working", 90.0, "gr_engine"),
        ("2", "held", 0.0, "gr_engine"),
    ]


def test_util_of_a_slice_is_no_measurement() -> None:
    row, _ = machine("i-mig", gpus=0)
    slice_ = device(row, 0, uuid="GPU-card", mig_instance="1")
    play(slice_, "09:00", "11:00", gpu_util=0)
    found = judged("11:00")["i-mig"]
    assert (found["state"], found["reason"], found["peak_pct"]) == ("unknown", "no_activity_signal", None)


def test_a_job_is_judged_over_all_its_cards_and_its_life() -> None:
    _, gpus = machine("i-eight", gpus=8)
    for number, gpu in enumerate(gpus):
        play(gpu, "08:00", "10:00", gpu_util=50)
        play(gpu, "10:00", "12:00", gpu_util=0 if number == 5 else 90)
    job("2001", gpus, "10:00", owner="user-a")
    found = judged("12:00", EightDollars())["i-eight"]
    (one,) = found["jobs"]
    assert (one["id"], one["owner"], one["state"], one["mean_pct"], one["peak_pct"], one["gpus"]) == (
        "2001", "user-a", "working", 78.75, 90.0, 8,
    )  # fmt: skip
    assert (found["state"], found["idle_cost"]) == ("working", "0.00")
    assert [gpu["index"] for gpu in found["gpus"] if gpu["state"] in ("held", "empty")] == [5]
    assert found["gpus"][5]["jobs"] == ["2001"]


def test_a_job_on_two_machines_works_while_one_of_its_cards_does() -> None:
    _, (here,) = machine("i-a")
    _, (there,) = machine("i-b")
    play(here, "08:00", "12:00", gpu_util=0)
    play(there, "08:00", "12:00", gpu_util=90)
    job("7", [here, there], "08:00")
    found = judged("12:00")
    assert (found["i-a"]["state"], found["i-b"]["state"]) == ("held", "working")
    assert [(row["jobs"][0]["state"], row["jobs"][0]["gpus"]) for row in found.values()] == [("working", 2)] * 2
    assert found["i-a"]["jobs"][0]["mean_pct"] == 45.0


def test_stopped_and_fresh_machines_are_never_idle() -> None:
    old, (old_gpu,) = machine("i-old")
    InstanceState.objects.filter(instance=old).update(end=at("09:00"))
    InstanceState.objects.create(instance=old, start=at("09:00"), state="stopped_billed")
    play(old_gpu, "07:00", "09:00", gpu_util=0)
    _, (new_gpu,) = machine("i-new", started="10:50")
    first_seen(new_gpu, "10:50")
    play(new_gpu, "10:45", "11:55", gpu_util=0)
    early, later = judged("11:00", EightDollars()), judged("11:55", EightDollars())
    assert (early["i-new"]["state"], early["i-new"]["reason"]) == ("warm_up", "just_started")
    assert (early["i-new"]["since"], early["i-new"]["minutes"], early["i-new"]["idle_cost"]) == (None, None, "0.00")
    assert (later["i-new"]["state"], later["i-new"]["since"], later["i-new"]["minutes"]) == (
        "held", "2025-06-03T10:55:00Z", 60,
    )  # fmt: skip
    for found in (early["i-old"], later["i-old"]):
        assert (found["state"], found["reason"], found["instance_state"]) == (
            "stopped",
            "not_running",
            "stopped_billed",
        )
        assert found["stopped_but_billed"] is True
        assert [gpu["state"] for gpu in found["gpus"]] == ["unknown"]
        assert "idle" not in kinds(found)


def test_a_restart_resets_the_clock() -> None:
    row, (gpu,) = machine("i-again")
    play(gpu, "07:00", "09:00", gpu_util=90)
    play(gpu, "09:00", "10:10", gpu_util=0)
    InstanceState.objects.filter(instance=row).update(end=at("10:12"))
    InstanceState.objects.create(instance=row, start=at("10:12"), end=at("15:02"), state="stopped")
    InstanceState.objects.create(instance=row, start=at("15:02"), state="running")
    play(gpu, "15:00", "16:20", gpu_util=0)
    assert judged("10:10")["i-again"]["state"] == "held"
    for when in ("15:05", "15:30", "16:00"):
        assert judged(when)["i-again"]["state"] in ("warm_up", "working"), when
    found = judged("16:05")["i-again"]
    assert (found["state"], found["since"]) == ("held", "2025-06-03T15:05:00Z")


def test_fewer_or_more_devices_than_the_inventory_says_is_unknown() -> None:
    few, gpus = machine("i-few", gpus=2)
    device(few, 2)  # never seen since
    many, others = machine("i-many", gpus=2)
    many.versions.update(attributes={"gpu_count": 1, "host": many.host})
    few.versions.update(attributes={"gpu_count": 3, "host": few.host})
    GpuPlacement.objects.filter(gpu__uuid="GPU-i-few-2").delete()
    for gpu in (*gpus, *others):
        play(gpu, "08:00", "11:00", gpu_util=0)
    found = judged("11:00")
    assert (found["i-few"]["state"], found["i-few"]["reason"]) == ("unknown", "fewer_devices")
    assert (found["i-many"]["state"], found["i-many"]["reason"]) == ("unknown", "inventory_disagrees")
    assert found["i-few"]["idle_cost"] is None
    assert "idle" not in kinds(found["i-few"]) + kinds(found["i-many"])
    assert "unknown_host" in kinds(found["i-many"])


def test_a_host_that_two_running_machines_claim_is_unknown() -> None:
    one, (gpu,) = machine("i-one")
    other, _ = machine("i-other", gpus=0)
    Instance.objects.filter(pk=other.pk).update(host=one.host)
    play(gpu, "08:00", "11:00", gpu_util=0)
    found = judged("11:00")
    assert (found["i-one"]["state"], found["i-one"]["reason"]) == ("unknown", "host_claimed_twice")
    assert (found["i-other"]["state"], found["i-other"]["reason"]) == ("unknown", "host_claimed_twice")
    assert "unknown_host" in kinds(found["i-one"])


def test_a_host_that_no_account_knows() -> None:
    _, (gpu,) = machine("node-1", account=None, started=None)
    play(gpu, "08:00", "11:00", gpu_util=0)
    found = judged("11:00")["node-1"]
    assert (found["account"], found["state"], found["instance_state"]) == (None, "held", "running")
    assert "unknown_host" not in kinds(found)  # nobody has declared an account
    machine("i-known")
    assert "unknown_host" in kinds(judged("11:00")["node-1"])


def test_a_lost_card_is_found_and_makes_its_machine_unknown() -> None:
    _, (stays, goes) = machine("i-two", gpus=2)
    play(stays, "08:00", "11:00", gpu_util=0)
    play(goes, "08:00", "10:00", gpu_util=0)
    found = judged("11:00")["i-two"]
    assert (found["state"], found["reason"]) == ("unknown", "fewer_devices")
    (lost,) = [one for one in found["findings"] if one["kind"] == "gpu_lost"]
    assert (lost["since"], lost["minutes"]) == ("2025-06-03T10:00:00Z", 60)
    assert lost["evidence"]["subject"] == {"kind": "gpu", "id": "GPU-i-two-1"}
    assert "gpu_lost" not in kinds(judged("10:15")["i-two"])


def test_a_whole_host_that_falls_silent_has_lost_no_card() -> None:
    _, gpus = machine("i-two", gpus=2)
    for gpu in gpus:
        play(gpu, "08:00", "10:00", gpu_util=90)
    found = judged("11:30")["i-two"]
    assert (found["state"], found["reason"], found["coverage_pct"]) == ("unknown", "no_data", 0.0)
    assert "gpu_lost" not in kinds(found)


def test_hang_without_work_at_full_utilisation() -> None:
    _, gpus = machine("i-hung", gpus=2)
    for gpu in gpus:
        play(gpu, "08:00", "10:00", gpu_util=97, power_watts=640, tensor=40, dram=30, memory_mib=70_000)
        play(gpu, "10:00", "11:30", gpu_util=100, power_watts=115, tensor=0, dram=0, memory_mib=70_000)
    found = judged("11:30", EightDollars())["i-hung"]
    assert (found["state"], found["reason"]) == ("working", "busy")
    (hang,) = [one for one in found["findings"] if one["kind"] == "suspected_hang"]
    assert (hang["since"], hang["minutes"]) == ("2025-06-03T10:00:00Z", 90)
    assert (hang["evidence"]["power_watts"], hang["evidence"]["power_limit_watts"]) == (115.0, 700.0)
    assert "suspected_hang" not in kinds(judged("10:25")["i-hung"])
    assert "suspected_hang" in kinds(judged("10:30")["i-hung"])


def test_unused_cards_beside_working_ones() -> None:
    _, (works, rests) = machine("i-two", gpus=2, started="2025-06-01T08:00")
    for gpu in (works, rests):
        first_seen(gpu, "2025-06-01T08:05")
    play(works, "2025-06-01T08:00", "2025-06-03T12:00", gpu_util=80)
    play(rests, "2025-06-01T08:00", "2025-06-03T12:00", gpu_util=0, memory_mib=10)
    found = judged("12:00")["i-two"]
    (partly,) = [one for one in found["findings"] if one["kind"] == "partly_used"]
    assert partly["evidence"]["unused"] == ["GPU-i-two-1"]
    assert "partly_used" not in kinds(judged("2025-06-02T08:00")["i-two"])
    assert "partly_used" in kinds(judged("2025-06-02T08:05")["i-two"])


def test_little_use_over_days() -> None:
    _, gpus = machine("i-low", gpus=2, started="2025-05-25T00:00")
    for gpu in gpus:
        play(gpu, "2025-06-02T00:00", "2025-06-02T20:00", interval=300, gpu_util=20, memory_mib=20_000)
    assert "low_utilization" in kinds(judged("2025-06-02T20:00")["i-low"])
    assert "low_utilization" not in kinds(judged("2025-06-02T11:00")["i-low"])  # not yet 24 GPU-hours
    (low,) = [one for one in judged("2025-06-02T20:00")["i-low"]["findings"] if one["kind"] == "low_utilization"]
    assert (low["evidence"]["mean_pct"], low["evidence"]["gpu_hours"]) == (20.0, 39.83)


def test_an_instance_has_the_rule_of_its_policy() -> None:
    _, (gpu,) = machine("i-one", profile="interactive")
    play(gpu, "08:00", "09:00", gpu_util=90)
    play(gpu, "09:00", "11:30", gpu_util=0)
    assert judged("10:00")["i-one"]["state"] == "held"
    idle = {"window": "2h", "warm_up": "30m", "threshold_pct": 5}
    Policy.objects.create(name="dev", position=0, spec={"select": {"profiles": ["interactive"]}, "idle": idle})
    found = judged("10:00")["i-one"]
    assert (found["policy"], found["state"], found["coverage_pct"]) == ("dev", "working", 100.0)
    assert judged("11:00")["i-one"]["state"] == "held"


def test_long_idleness_is_found_however_far_back_it_began() -> None:
    _, (gpu,) = machine("i-long", started="2025-04-01T00:00")
    first_seen(gpu, "2025-05-01T00:05")
    play(gpu, "2025-05-01T00:00", "2025-05-02T03:00", interval=300, gpu_util=90)
    play(gpu, "2025-05-02T03:00", "2025-06-03T03:00", interval=300, gpu_util=0)
    found = judged("03:00", EightDollars())["i-long"]
    assert (found["since"], found["minutes"]) == ("2025-05-02T03:00:00Z", 32 * 1440)
    assert found["idle_cost"] == "6144.00"


def test_a_machine_without_a_rule_belongs_to_the_one_team_whose_jobs_hold_all_of_it() -> None:
    Team.objects.create(name="red", from_telemetry=True)
    _, whole = machine("i-whole", gpus=2, account=None)
    _, half = machine("i-half", gpus=2, account=None)
    for gpu in (*whole, *half):
        play(gpu, "08:00", "10:00", gpu_util=90)
    job("red/train-0", whole, "08:00", labels={"namespace": "red"})
    job("red/train-1", half[:1], "08:00", labels={"namespace": "red"})

    rows = judged("10:00")
    assert {name: row["team"] for name, row in rows.items()} == {"i-whole": "red", "i-half": None}


def test_a_running_machine_without_a_price_says_so() -> None:
    _, gpus = machine("i-1", sku="p5.48xlarge", region="us-east-1")
    play(gpus[0], "08:00", "10:00", gpu_util=90)
    (found,) = [one for one in judged("10:00")["i-1"]["findings"] if one["kind"] == "unpriced"]
    assert (found["since"], found["evidence"]) == (
        "2025-06-02T08:00:00Z",
        {
            "subject": {"kind": "instance", "id": "i-1"},
            "provider": "aws",
            "sku": "p5.48xlarge",
            "gpu_model": None,
            "gpu_count": 1,
            "region": "us-east-1",
        },
    )
    assert "unpriced" not in kinds(judged("10:00", EightDollars())["i-1"])


def test_a_gpu_that_came_from_another_machine_begins_anew_where_it_arrives() -> None:
    _, (gpu,) = machine("i-old")
    new, _ = machine("i-new", gpus=0)
    play(gpu, "08:00", "08:30", gpu_util=90)
    play(gpu, "08:30", "14:00", gpu_util=0)
    GpuPlacement.objects.filter(gpu=gpu.row).update(end=at("12:00"))
    GpuPlacement.objects.create(gpu=gpu.row, start=at("12:00"), host="i-new", instance=new)
    Gpu.objects.filter(pk=gpu.row.pk).update(instance=new)
    row = judged("14:00")["i-new"]
    assert (row["state"], row["since"], row["minutes"]) == ("held", "2025-06-03T12:05:00Z", 115)
