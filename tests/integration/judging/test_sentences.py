"""Sentences from facts."""

from __future__ import annotations

import pytest

from fleet.sentences import length_text, percent_text, reason_sentence, render, time_text, verdict_sentence

FACTS = {
    "state": "held", "reason": "quiet_memory_held", "since": "2025-06-03T09:00:00Z", "at": "2025-06-03T14:00:00Z",
    "minutes": 300, "gpus": 8, "peak_pct": 0.0, "window_minutes": 60, "coverage_pct": 100.0, "memory": "held",
    "idle_cost": "19.33", "price_per_hour": "4.00", "currency": "USD",
}  # fmt: skip


def test_idle() -> None:
    assert verdict_sentence(FACTS) == (
        "Idle since 09:00 UTC (5 h): peak 0 % of 8 GPUs over 60 min, coverage 100 %, memory held."
        " 19.33 USD so far, 4.00 USD per hour."
    )
    other = FACTS | {"memory": "unknown", "gpus": 1, "price_per_hour": None, "since": "2025-06-01T09:00:00Z"}
    assert verdict_sentence(other | {"minutes": 2 * 1440 + 185}) == (
        "Idle since 2025-06-01 09:00 UTC (2 d 3 h): peak 0 % of 1 GPU over 60 min, coverage 100 %, memory unknown."
        " Its price is not known."
    )


def test_working_and_unknown() -> None:
    working = FACTS | {"state": "working", "reason": "busy", "mean_pct": 78.75, "peak_pct": 100.0, "minutes": None}
    assert verdict_sentence(working) == "Working: mean 78.8 %, peak 100 % of 8 GPUs over 60 min, coverage 100 %."
    early = working | {"reason": "too_early"}
    assert verdict_sentence(early) == "Quiet so far, but too early to say: it started not long ago."
    unknown = {"state": "unknown", "reason": "low_coverage", "coverage_pct": 41.67}
    assert verdict_sentence(unknown) == (
        "It can't be seen well enough: too many samples of the window are missing. Coverage is 41.7 %."
    )
    assert verdict_sentence({"state": "stopped", "reason": "not_running"}) == "It does not run, by its provider's word."
    assert reason_sentence("something_new") == "It can't be told."


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (None, "unknown"),
        (0, "0 min"),
        (60, "60 min"),
        (61, "1 h 1 min"),
        (300, "5 h"),
        (2880, "2 d"),
        (3000, "2 d 2 h"),
    ],
)
def test_lengths(minutes: float | None, text: str) -> None:
    assert length_text(minutes) == text


def test_percents_and_times() -> None:
    assert [percent_text(value) for value in (None, 0, 0.02, 4.96, 100)] == [
        "unknown", "0 %", "0.02 %", "5 %", "100 %",
    ]  # fmt: skip
    assert time_text("2025-06-03T09:00:00Z", "2025-06-03T10:00:00Z") == "09:00 UTC"
    assert time_text(None) == "unknown"


def test_messages() -> None:
    told = render("idle", FACTS | {"subject": "i-one", "link": "/instances/lab/i-one/", "team": "nlp", "owner": None})
    assert told["title"] == "i-one is idle"
    assert told["sentence"].startswith("Idle since 09:00 UTC (5 h)")
    assert told["link"] == "/instances/lab/i-one/"
    assert dict(told["lines"]) == {
        "Since": "2025-06-03 09:00 UTC", "How long": "5 h", "Highest activity": "0 %", "Coverage": "100 %",
        "Cost so far": "19.33 USD", "Cost per hour": "4.00 USD", "Team": "nlp",
    }  # fmt: skip
    hang = render("suspected_hang", {**FACTS, "subject": "7", "power_watts": 115.0, "power_limit_watts": 700.0})
    assert "at most 115 W of 700 W" in hang["sentence"]
    for kind in ("gpu_lost", "target_down", "low_utilization", "partly_used", "unassigned", "unknown_host", "new_kind"):
        assert render(kind, {"subject": "x", "why": "no_account"})["title"]
