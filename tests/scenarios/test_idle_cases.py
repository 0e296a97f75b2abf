"""Stories of idleness that other tools got wrong, through a real Prometheus and the fixed doors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.doors import apply, door
from tests.support.openmetrics import History, fleet, instances, steps, uuid
from tests.support.prometheus import PrometheusStarter

pytestmark = [pytest.mark.django_db(transaction=True)]

UTIL, ENGINE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
TENSOR, DRAM, POWER = "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_DEV_POWER_USAGE"
LIMIT, MEMORY = "DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_FB_USED"
WATCH = {
    "name": "watch", "mode": "observe", "select": {},
    "idle": {"threshold_pct": 5, "window": "60m", "empty_window": "60m", "min_coverage_pct": 80, "warm_up": "60m"},
}  # fmt: skip


def card(number: int, host: str, gpu: int = 0, **more: str) -> dict[str, str]:
    return {"gpu": str(gpu), "UUID": uuid(number), "Hostname": host, "modelName": "NVIDIA H100 80GB HBM3", **more}


def story() -> str:
    """One morning of six hosts."""
    history = History()
    span = ("2025-06-03 08:00", "2025-06-03 14:00")
    for slice_, level in (("1", 0.9), ("2", 0.0)):  # a card in two slices: the percent metric is a flat zero
        labels = card(501, "mig-host", GPU_I_ID=slice_, GPU_I_PROFILE="3g.40gb")
        history.add(UTIL, labels, 0, *span).add(ENGINE, labels, level, *span)
    burst = steps(("2025-06-03 08:00", 92), ("2025-06-03 09:10", 0))  # works for an hour, then nothing for five
    history.add(UTIL, card(502, "burst-host"), burst, *span, every=600)
    history.add(UTIL, card(503, "fresh-host"), 0, "2025-06-03 10:50", "2025-06-03 14:00")
    for gpu in range(8):  # one of eight does nothing
        labels = card(510 + gpu, "eight-host", gpu, hpc_job="2001")
        history.add(UTIL, labels, 0 if gpu == 5 else 90, "2025-06-03 10:00", "2025-06-03 12:00")
        history.add(MEMORY, labels, 400 if gpu == 5 else 60_000, "2025-06-03 10:00", "2025-06-03 12:00")
    for gpu in range(2):  # hangs at 10:00 at full utilisation
        labels = card(520 + gpu, "hung-host", gpu)
        for metric, works, hangs in ((UTIL, 97, 100), (TENSOR, 0.4, 0), (DRAM, 0.3, 0), (POWER, 640, 115)):
            history.add(metric, labels, steps(("2025-06-03 08:00", works), ("2025-06-03 10:05", hangs)), *span)
        history.add(LIMIT, labels, 700, *span)
    busy_once = steps(("2025-06-03 08:00", 0), ("2025-06-03 10:30", 4_294_967_295), ("2025-06-03 10:35", 0))
    history.add(UTIL, card(531, "odd-a"), busy_once, *span)  # garbage on an idle card
    history.add(ENGINE, card(532, "odd-b"), 140_737_488_355_328, *span)  # nothing but the mark for no value
    history.add(ENGINE, card(533, "odd-c"), 1.29, *span)  # a known quirk, a little above one
    return history.text()


@pytest.fixture
def morning(prometheus: PrometheusStarter, tmp_path: Path) -> None:
    url = prometheus.backfilled(story())
    new = {"launched_at": "2025-06-03T10:50:00Z", "last_started_at": "2025-06-03T10:50:00Z"}
    machines = instances(
        {"id": "i-mig", "host": "mig-host", "price_per_hour": "4.10"},
        {"id": "i-burst", "host": "burst-host", "price_per_hour": "4.00"},
        {"id": "i-fresh", "host": "fresh-host", "price_per_hour": "3.06", **new},
        {"id": "i-eight", "host": "eight-host", "price_per_hour": "16.00", "gpu_count": 8},
        {"id": "i-hung", "host": "hung-host", "price_per_hour": "16.00", "gpu_count": 2},
        {"id": "i-off", "host": "off-host", "state": "stopped", "stopped_at": "2025-06-03T09:00:00Z"},
    )
    apply(tmp_path, fleet(url, machines, policies=[WATCH]))
    door("backfill", "--since", "2025-06-03T07:00:00Z", "--until", "2025-06-03T14:00:00Z")


def judged(time: str) -> dict[str, dict[str, Any]]:
    return {row["instance"]: row for row in door("judge", "--at", f"2025-06-03T{time}:00Z")}


def kinds(row: dict[str, Any]) -> set[str]:
    return {one["kind"] for one in row["findings"]}


def test_a_morning_of_misleading_metrics(morning: None) -> None:
    eleven = judged("11:00")
    mig = eleven["i-mig"]
    assert (mig["state"], mig["policy"]) == ("working", "watch")
    assert [(gpu["mig_instance"], gpu["state"], gpu["mean_pct"]) for gpu in mig["gpus"]] == [
        ("1", "working", 90.0),
        ("2", "held", 0.0),
    ]
    assert eleven["i-fresh"]["state"] == "warm_up"
    assert (eleven["i-off"]["state"], eleven["i-off"]["idle_cost"]) == ("stopped", None)

    hung = judged("11:30")["i-hung"]
    assert (hung["state"], "idle" in kinds(hung)) == ("working", False)
    (hang,) = [one for one in hung["findings"] if one["kind"] == "suspected_hang"]
    assert (hang["since"], hang["minutes"]) == ("2025-06-03T10:00:00Z", 90)

    before, after = judged("11:45")["i-fresh"], judged("11:55")["i-fresh"]
    assert (before["state"], after["state"]) == ("warm_up", "held")

    noon = judged("12:00")
    eight = noon["i-eight"]
    assert eight["state"] == "working"
    assert [(one["id"], one["mean_pct"], one["gpus"], one["state"]) for one in eight["jobs"]] == [
        ("2001", 78.75, 8, "working")
    ]
    assert [gpu["index"] for gpu in eight["gpus"] if gpu["state"] == "empty"] == [5]

    odd = {name: noon[name]["gpus"][0] for name in ("odd-a", "odd-b", "odd-c")}
    assert (odd["odd-a"]["state"], odd["odd-a"]["peak_pct"], odd["odd-a"]["coverage_pct"]) == ("held", 0.0, 100.0)
    assert (odd["odd-b"]["state"], odd["odd-b"]["mean_pct"]) == ("unknown", None)
    assert (odd["odd-c"]["state"], odd["odd-c"]["peak_pct"]) == ("working", 100.0)
    assert noon["odd-a"]["account"] is None
    assert "unknown_host" in kinds(noon["odd-a"])

    burst = judged("14:00")["i-burst"]
    assert (burst["state"], burst["since"], burst["minutes"], burst["idle_cost"]) == (
        "held", "2025-06-03T09:00:00Z", 300, "20.00",
    )  # fmt: skip
    assert burst["sentence"] == (
        "Idle since 09:00 UTC (5 h): peak 0 % of 1 GPU over 60 min, coverage 100 %, memory unknown."
        " 20.00 USD so far, 4.00 USD per hour."
    )


def test_the_record_of_one_machine(morning: None) -> None:
    record = door("explain", "acct/i-burst", "--at", "2025-06-03T09:30:00Z")
    assert record["verdict"]["state"] == "working"
    assert record["policy"]["values"]["window"] == {"value": "1h", "from": "policy watch"}
    assert [point["says"] for point in record["evidence"]["gpus"][0]["points"]] == ["busy"] * 3 + ["quiet"] * 3
    assert [(one["what"], one["at"]) for one in record["next"]] == [
        ("idle_at_the_earliest_if_quiet_from_now_on", "2025-06-03T10:00:00Z")
    ]
