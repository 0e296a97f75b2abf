"""Pictures of machines: plain values -> Plotly figures as JSON values. Names from outside are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from html import escape

from common.figures import ENGLISH_DATES, DateForms, Json, var

STEP_SECONDS = 300
GAP_BETWEEN_ROWS = 0.18  # of a row's height
TOP_PCT = 104  # room for a line at 100 %
TICK_HOURS = (1, 2, 3, 6, 12, 24, 48, 96, 168, 336)
MOST_TICKS = 7
DAYS_AFTER = 36 * 3600  # longer spans are told in days


@dataclass(frozen=True)
class ActivityRow:
    """One GPU. ``peaks``: percent at each mark, None: nothing was seen; ``note`` says the highest of the window."""

    label: str
    peaks: Sequence[float | None]
    note: str


def gpu_activity(
    marks: Sequence[int],
    rows: Sequence[ActivityRow],
    *,
    threshold_pct: float,
    window_start: int,
    zone: tzinfo,
    step: int = STEP_SECONDS,
    dates: DateForms = ENGLISH_DATES,
) -> Json:
    """Draw one small line per GPU over points that end at ``marks`` (epoch seconds, ``step`` apart).

    A gap is a gap, drawn grey.
    """
    start, end = marks[0] - step, marks[-1]
    is_long = end - start > DAYS_AFTER
    times = [f"{_local(mark, zone):{dates.moment}}" if is_long else f"{_local(mark, zone):%H:%M}" for mark in marks]
    height = 1 / len(rows)
    traces: list[Json] = []
    shapes: list[Json] = []
    notes: list[Json] = []
    layout: Json = {
        "hovermode": "closest", "margin": {"l": 56, "r": 80, "t": 6, "b": 22}, "shapes": shapes, "annotations": notes,
        "xaxis": _time_axis(start, end, zone, dates) | {"anchor": "free", "position": 0},
        "meta": {"narrow": {"margin": {"l": 50, "r": 10}}},
    }  # fmt: skip
    for index, row in enumerate(rows):
        axis = f"y{index + 1}" if index else "y"
        top = 1 - index * height
        layout[f"yaxis{axis[1:]}"] = {
            "domain": [top - height * (1 - GAP_BETWEEN_ROWS), top], "range": [0, TOP_PCT], "showticklabels": False,
            "showgrid": False, "ticks": "", "showline": False,
        }  # fmt: skip
        traces.append({
            "type": "scatter", "mode": "lines", "yaxis": axis, "name": escape(row.label), "x0": _moment(marks[0]),
            "dx": step * 1000, "y": list(row.peaks), "text": times, "connectgaps": False,
            "line": {"width": 1.25, "color": var("working")},
            "hovertemplate": f"{escape(row.label)}, %{{text}}: %{{y:.1f}} %<extra></extra>",
        })  # fmt: skip
        shapes += [_gap((marks[first] - step, marks[last]), axis) for first, last in _gaps(row.peaks)]
        shapes += [_line(0, axis, "solid", "line"), _line(threshold_pct, axis, "dash", "held")]
        notes += _notes(row, axis)
    if start < window_start < end:
        shapes.append({
            "type": "line", "xref": "x", "yref": "paper", "x0": _moment(window_start), "x1": _moment(window_start),
            "y0": 0, "y1": 1, "line": {"width": 1, "dash": "dot", "color": var("ink-3")},
        })  # fmt: skip
    return {"data": traces, "layout": layout}


def _notes(row: ActivityRow, axis: str) -> list[Json]:
    """The GPU's name on the left, its highest activity in the window on the right."""
    middle = {"xref": "paper", "yref": f"{axis} domain", "y": 0.4, "yanchor": "middle", "showarrow": False}
    font = {"size": 11, "color": var("ink-2")}
    return [
        middle | {"x": 0, "xanchor": "right", "xshift": -6, "text": escape(row.label), "font": font},
        middle | {"x": 1, "xanchor": "left", "xshift": 6, "text": row.note, "font": font, "name": "wide"},
    ]


def _gaps(peaks: Sequence[float | None]) -> list[tuple[int, int]]:
    """Give the runs of marks at which nothing was seen, as first and last place."""
    runs: list[tuple[int, int]] = []
    for place, value in enumerate(peaks):
        if value is not None:
            continue
        if runs and runs[-1][1] == place - 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs


def _gap(span: tuple[int, int], axis: str) -> Json:
    return {
        "type": "rect", "xref": "x", "yref": f"{axis} domain", "x0": _moment(span[0]),
        "x1": _moment(span[1]), "y0": 0, "y1": 1, "layer": "below", "line": {"width": 0},
        "fillcolor": var("fan-80"),
    }  # fmt: skip


def _line(value: float, axis: str, dash: str, colour: str) -> Json:
    return {
        "type": "line", "xref": "paper", "yref": axis, "x0": 0, "x1": 1, "y0": value, "y1": value,
        "line": {"width": 1, "dash": dash, "color": var(colour)},
    }  # fmt: skip


def _time_axis(start: int, end: int, zone: tzinfo, dates: DateForms) -> Json:
    """An axis in UTC whose ticks stand at full local hours and say the local time."""
    hours = [at for at in range(start - start % 900, end + 1, 900) if at >= start and _local(at, zone).minute == 0]
    step = next((step for step in TICK_HOURS if len(hours) / step <= MOST_TICKS), TICK_HOURS[-1])
    ticks = [at for at in hours if _hours_since_day_one(_local(at, zone)) % step == 0]
    form = dates.day if step >= 24 else dates.moment if end - start > DAYS_AFTER else "%H:%M"
    return {
        "type": "date", "range": [_moment(start), _moment(end)], "tickvals": [_moment(at) for at in ticks],
        "ticktext": [f"{_local(at, zone):{form}}" for at in ticks],
    }  # fmt: skip


def _hours_since_day_one(local: datetime) -> int:
    """Count hours by the local clock, so that multiples of 24 are midnights."""
    return local.toordinal() * 24 + local.hour


def _local(mark: int, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(mark, zone)


def _moment(mark: int) -> str:
    return f"{datetime.fromtimestamp(mark, UTC):%Y-%m-%dT%H:%M}"
