"""The picture of a machine's GPUs by its structure: gaps stay gaps, ticks say local time, names are escaped."""

from __future__ import annotations

import json
from zoneinfo import ZoneInfo

import plotly.graph_objects as go

from fleet.charts.activity import ActivityRow, gpu_activity

END = 1_748_952_000  # 2025-06-03T12:00Z
MARKS = [END - 300 * age for age in range(143, -1, -1)]
BERLIN = ZoneInfo("Europe/Berlin")


def figure(*peaks: list[float | None]) -> dict:
    rows = [ActivityRow(f"GPU {index}<b>", values, "max 1.8\u00a0%") for index, values in enumerate(peaks)]
    return gpu_activity(MARKS, rows, threshold_pct=5, window_start=END - 3600, zone=BERLIN)


def test_plotly_takes_it_and_it_needs_neither_webgl_nor_bold() -> None:
    drawn = figure([1.0] * 144, [None] * 144)
    go.Figure(drawn)
    assert {trace["type"] for trace in drawn["data"]} == {"scatter"}
    assert "<b>" not in json.dumps(drawn)


def test_gaps_are_drawn_as_gaps() -> None:
    peaks: list[float | None] = [50.0] * 144
    peaks[0] = peaks[10] = peaks[11] = None
    drawn = figure(peaks)
    assert drawn["data"][0]["y"] == peaks
    assert drawn["data"][0]["connectgaps"] is False
    grey = [(one["x0"], one["x1"]) for one in drawn["layout"]["shapes"] if one["type"] == "rect"]
    assert grey == [("2025-06-03T00:00", "2025-06-03T00:05"), ("2025-06-03T00:50", "2025-06-03T01:00")]


def test_ticks_stand_at_local_hours_and_hover_says_local_time() -> None:
    drawn = figure([1.0] * 144)
    axis = drawn["layout"]["xaxis"]
    assert list(zip(axis["tickvals"], axis["ticktext"], strict=True))[:2] == [
        ("2025-06-03T00:00", "02:00"), ("2025-06-03T02:00", "04:00"),
    ]  # fmt: skip
    assert (drawn["data"][0]["x0"], drawn["data"][0]["text"][0]) == ("2025-06-03T00:05", "02:05")


def test_each_gpu_has_its_line_its_threshold_and_its_highest() -> None:
    drawn = figure([1.0] * 144, [2.0] * 144)
    lines = [one for one in drawn["layout"]["shapes"] if one.get("line", {}).get("dash") == "dash"]
    assert [(one["yref"], one["y0"]) for one in lines] == [("y", 5), ("y2", 5)]
    assert [one["text"] for one in drawn["layout"]["annotations"] if one.get("name") == "wide"] == [
        "max 1.8\u00a0%"
    ] * 2
