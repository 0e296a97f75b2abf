"""GPU-hours by state over time, as stacked bars. A time of which nothing is known has no bar, which is not zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, tzinfo
from typing import Any

from common.figures import ENGLISH_DATES, DateForms, Json, var

STATES = ("working", "low", "held", "empty", "unknown")


def state_bars(
    times: Sequence[datetime | date],
    hours: Mapping[Any, Mapping[str, float]],
    words: Mapping[str, str],
    zone: tzinfo,
    dates: DateForms = ENGLISH_DATES,
) -> Json:
    """Draw one bar per hour or local day of ``times``, split by state; ``hours``: GPU-hours by state at each."""
    labels = [_label(at, zone, dates) for at in times]
    found = [hours.get(at) for at in times]
    traces = [
        {
            "type": "bar", "name": words[state], "x": labels,
            "y": [None if one is None else round(one.get(state, 0.0), 3) for one in found],
            "marker": {"color": var(state)}, "hovertemplate": f"{words[state]} %{{y:.1f}} {dates.hours}<extra></extra>",
        }
        for state in STATES
        if any(one and one.get(state) for one in found)
    ]  # fmt: skip
    gaps = [
        {
            "type": "rect", "xref": "x", "yref": "paper", "x0": place - 0.5, "x1": place + 0.5, "y0": 0, "y1": 1,
            "layer": "below", "line": {"width": 0}, "fillcolor": var("fan-80"),
        }
        for place, one in enumerate(found)
        if one is None
    ]  # fmt: skip
    step = max(1, -(-len(times) // 8))
    layout: Json = {
        "barmode": "stack", "shapes": gaps, "hovermode": "x unified", "margin": {"l": 44, "r": 12, "t": 8, "b": 26},
        "xaxis": {"type": "category", "tickvals": labels[::step], "range": [-0.5, len(times) - 0.5]},
        "yaxis": {"ticksuffix": f" {dates.hours}"}, "meta": {"narrow": {"margin": {"l": 40, "r": 4}}},
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _label(at: datetime | date, zone: tzinfo, dates: DateForms) -> str:
    if isinstance(at, datetime):
        return f"{at.astimezone(zone):{dates.moment}}"
    return f"{at:{dates.day}}"
