"""Replayed stories through the whole line: a real Prometheus in, verdicts, alerts, messages and money out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.doors import DoorFailed, apply, door
from tests.support.openmetrics import History, fleet, instances, steps, uuid
from tests.support.prometheus import PrometheusStarter

pytestmark = [pytest.mark.django_db(transaction=True)]

UTIL = "DCGM_FI_DEV_GPU_UTIL"
HOOK = {"name": "hook", "kind": "webhook", "url": "http://127.0.0.1:9/hook", "allow_private": True}
NOTIFY = {
    "name": "watch", "mode": "observe", "select": {},
    "idle": {"threshold_pct": 5, "window": "60m", "empty_window": "60m", "min_coverage_pct": 80, "warm_up": "60m"},
    "ladder": [{"after": "60m", "do": "notify"}],
}  # fmt: skip


def labels(number: int, host: str) -> dict[str, str]:
    return {"gpu": "0", "UUID": uuid(number), "Hostname": host}


def by_instance(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["instance"]: row for row in rows}


@pytest.fixture
def outage(prometheus: PrometheusStarter, tmp_path: Path) -> str:
    """One GPU works until 08:55, then 0 %; the exporter is silent from 11:05 to 11:40. Applied, told by webhook."""
    value = steps(
        ("2025-06-03 08:00", 60), ("2025-06-03 09:00", 0), ("2025-06-03 11:05", None), ("2025-06-03 11:45", 0)
    )
    history = History().add(UTIL, labels(310, "node-k"), value, "2025-06-03 08:00", "2025-06-03 12:30")
    url = prometheus.backfilled(history.text())
    machines = instances({"id": "i-gap", "host": "node-k", "price_per_hour": "3.06", "tags": {"team": "vision"}})
    apply(
        tmp_path, fleet(url, machines, policies=[NOTIFY], channels=[HOOK], routes=[{"match": {}, "channels": ["hook"]}])
    )
    return url


def test_silence_is_neither_recovery_nor_a_second_alert(outage: str) -> None:
    done = door("replay", "--since", "2025-06-03T08:00:00Z", "--until", "2025-06-03T12:30:00Z")
    assert (done["passes"], done["effects"], done["calls"]) == (55, "simulated", 0)

    alerts = [alert for alert in door("alerts") if alert["kind"] == "idle"]
    assert [
        (a["subject"]["id"], a["subject"]["account"], a["state"], a["opened_at"], a["reopened"], a["notices"])
        for a in alerts
    ] == [("i-gap", "acct", "open", "2025-06-03T09:55:00Z", 0, 1)]
    told = [row for row in door("deliveries") if row["alerts"] == [alerts[0]["id"]]]
    assert [(row["channel"], row["state"], row["delivered_at"]) for row in told] == [
        ("hook", "simulated", "2025-06-03T09:55:00Z")
    ]

    in_the_gap = by_instance(door("judge", "--at", "2025-06-03T11:30:00Z"))["i-gap"]
    assert (in_the_gap["state"], in_the_gap["minutes"]) == ("unknown", None)
    after = by_instance(door("judge", "--at", "2025-06-03T12:30:00Z"))["i-gap"]
    # since is kept over the gap, as the finding stayed open; covered: 08:55-11:00 and 11:40-12:30
    assert (after["state"], after["since"], after["minutes"]) == ("held", "2025-06-03T08:55:00Z", 175)
    assert after["idle_cost"] == "8.92"  # 175 / 60 x 3.06 = 8.925, half to even


def test_replay_only_goes_forward_and_leaves_nothing_behind_when_refused(outage: str) -> None:
    door("replay", "--since", "2025-06-03T10:00:00Z", "--until", "2025-06-03T10:30:00Z")
    before = (door("alerts"), door("deliveries"))
    with pytest.raises(DoorFailed) as refused:
        door("replay", "--since", "2025-06-03T10:25:00Z", "--until", "2025-06-03T11:00:00Z")
    assert (refused.value.exit_code, refused.value.document["error"]["code"]) == (4, "clock_backwards")
    with pytest.raises(DoorFailed) as refused:
        door("tick", "--at", "2025-06-03T10:25:00Z")
    assert refused.value.document["error"]["code"] == "clock_backwards"
    assert (door("alerts"), door("deliveries")) == before
    assert door("tick", "--at", "2025-06-03T10:30:00Z")["passes"] == 1  # equal is not earlier
    assert door("go_live") == {"clock": "live", "releases_back_to_notice": 0}


def test_a_replay_in_two_halves_says_the_same_as_in_one(outage: str) -> None:
    door("replay", "--since", "2025-06-03T08:00:00Z", "--until", "2025-06-03T10:00:00Z")
    door("replay", "--since", "2025-06-03T10:05:00Z", "--until", "2025-06-03T12:30:00Z")
    alerts = [alert for alert in door("alerts") if alert["kind"] == "idle"]
    assert [(a["opened_at"], a["state"], a["notices"]) for a in alerts] == [("2025-06-03T09:55:00Z", "open", 1)]
    spend = door("spend", "--since", "2025-06-03T08:00:00Z", "--until", "2025-06-03T12:00:00Z")
    row = spend["rows"][0]
    assert (row["key"], row["total"]) == ({"team": "vision"}, "12.24")
    # 08:00-08:55 worked (the first point stands for nothing), silent 11:00-11:40, the rest idle since 08:55
    assert row["gpu_hours"] == {
        "working": "0.916667", "low": "0.00", "held": "2.416667", "empty": "0.00", "unknown": "0.666667",
    }  # fmt: skip
