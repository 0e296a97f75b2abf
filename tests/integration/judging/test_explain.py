"""The decision record."""

from __future__ import annotations

import pytest

from common.errors import BadInput
from fleet.models import Exemption, GpuPlacement, IdleRuleVersion, Policy
from fleet.queries.explain import explain
from fleet.queries.fleet_at import around
from fleet.sentences import verdict_sentence
from tests.support.sampled_fleet import NoPrices, at, job, machine, play

pytestmark = pytest.mark.django_db


def test_record_of_a_quiet_machine() -> None:
    _, (gpu,) = machine("i-one", profile="interactive")
    play(gpu, "08:00", "09:00", gpu_util=90)
    play(gpu, "09:00", "09:40", gpu_util=0, memory_mib=100)
    IdleRuleVersion.objects.create(valid_from=at("2025-01-01T00:00"), spec={"min_coverage_pct": 75})
    spec = {
        "mode": "observe",
        "select": {"profiles": ["interactive"]},
        "idle": {"window": "1h30m", "empty_window": "1h"},
    }
    Policy.objects.create(name="dev", position=0, spec=spec, version=3)
    Exemption.objects.create(
        instance_ref="lab/i-one", reason="deadline", approver="lead@x", until=at("2025-07-01T00:00")
    )
    Exemption.objects.create(instance_ref="i-one", reason="old", owner="dev@x", until=at("2025-01-01T00:00"))

    record = explain("lab/i-one", at("09:42"), NoPrices(), say=verdict_sentence)

    assert (record["instance"], record["account"], record["at"]) == ("i-one", "lab", "2025-06-03T09:40:00Z")
    assert (record["verdict"]["state"], record["verdict"]["reason"]) == ("working", "busy")
    assert record["evidence"]["window"] == {"start": "2025-06-03T08:10:00Z", "end": "2025-06-03T09:40:00Z"}
    (shown,) = record["evidence"]["gpus"]
    assert "".join(point["says"][0] for point in shown["points"]) == "b" * 10 + "q" * 8
    assert shown["points"][0] == {
        "at": "2025-06-03T08:15:00Z", "says": "busy", "points": 1, "minutes": 5.0, "peaks": {"gpu_util": 90.0}
    }  # fmt: skip
    assert record["policy"] == {
        "name": "dev",
        "version": 3,
        "mode": "observe",
        "values": {
            "threshold_pct": {"value": 5, "from": "default"},
            "window": {"value": "1h30m", "from": "policy dev"},
            "empty_window": {"value": "1h", "from": "policy dev"},
            "min_coverage_pct": {"value": 75, "from": "organization"},
            "warm_up": {"value": "30m", "from": "default"},
            "scope": {"value": "instance", "from": "default"},
        },
    }
    assert record["exemptions"] == [
        {"by": "lead@x", "reason": "deadline", "until": "2025-07-01T00:00:00Z", "holds": True},
        {"by": "dev@x", "reason": "old", "until": "2025-01-01T00:00:00Z", "holds": False},
    ]
    assert (record["vetoes"], record["release"]) == ([], None)
    # memory is empty since 09:00: the shorter window counts
    assert record["next"] == [{"what": "idle_at_the_earliest_if_quiet_from_now_on", "at": "2025-06-03T10:00:00Z"}]


def test_reading_only_what_it_takes_changes_no_word() -> None:
    """Nodes of one job, a GPU that moved, a host that no account knows, a machine that nobody else touches."""
    nodes = [machine(f"i-{name}", gpus=2) for name in ("one", "two", "three", "alone")]
    stranger = machine("i-host", account=None)
    for _, gpus in (*nodes, stranger):
        for gpu in gpus:
            play(gpu, "08:00", "09:00", gpu_util=90, memory_mib=40_000)
            play(gpu, "09:00", "11:00", gpu_util=1, memory_mib=40_000)
    job("train", [nodes[0][1][0], nodes[1][1][1]], "08:00", owner="dev@example.com")
    (moved, _) = nodes[2][1]
    GpuPlacement.objects.filter(gpu=moved.row).update(end=at("09:30"))
    GpuPlacement.objects.create(gpu=moved.row, start=at("09:30"), host=nodes[0][0].host, instance=nodes[0][0])

    for row, _ in (*nodes, stranger):
        name = f"{row.account.name if row.account else '-'}/{row.external_id}"
        whole = explain(name, at("11:00"), NoPrices(), say=verdict_sentence)
        assert explain(name, at("11:00"), NoPrices(), say=verdict_sentence, instance_id=row.pk) == whole
    assert around(nodes[3][0].pk, at("11:00")) == [nodes[3][0].pk]
    assert around(nodes[1][0].pk, at("11:00")) == sorted(node.pk for node, _ in nodes[:2])
    assert around(nodes[0][0].pk, at("11:00")) == sorted(node.pk for node, _ in nodes[:3])


def test_what_it_foretells_comes_true() -> None:
    _, (gpu,) = machine("i-one", started="08:12")
    play(gpu, "08:10", "08:40", gpu_util=90)
    play(gpu, "08:40", "11:00", gpu_util=0)
    (told,) = explain("i-one", at("08:50"), NoPrices())["next"]
    assert told["at"] == "2025-06-03T09:40:00Z"
    assert explain("i-one", at("09:35"), NoPrices())["verdict"]["state"] == "working"
    assert explain("i-one", at("09:40"), NoPrices())["verdict"]["state"] == "held"


def test_unknown_instance_names_the_nearest() -> None:
    machine("i-train-7")
    with pytest.raises(BadInput) as wrong:
        explain("i-trian-7", at("10:00"), NoPrices())
    assert wrong.value.code == "unknown_instance"
    assert "i-train-7" in wrong.value.hint


def test_one_id_in_two_accounts_has_to_be_named_with_its_account() -> None:
    machine("i-one")
    machine("i-one", account="other", gpus=0)
    with pytest.raises(BadInput) as wrong:
        explain("i-one", at("10:00"), NoPrices())
    assert wrong.value.code == "ambiguous_instance"
    assert explain("other/i-one", at("10:00"), NoPrices())["account"] == "other"
