"""Pictures of money: plain values -> Plotly figures as JSON values. Names from outside are escaped: Plotly reads HTML.

Plain dicts: objects of plotly validate every value, which took half of a page's time. The tests validate instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from html import escape
from typing import Any
from unicodedata import east_asian_width

from billing.domain.month_spend import MONEY_STATES, TIME_STATES, MonthSpend
from common.figures import Json, var
from common.formats import money_prefix, short_money

DAY_MS = 86_400_000
LONGEST_NAME = 22
PIXELS_A_LETTER = 7.0


Words = Mapping[str, str]  # translated words of the states, and of what stands `beside` compute


def daily_spend(days: Sequence[date], spend: Mapping[date, MonthSpend], currency: str, words: Words) -> Json:
    """Draw what each local day's money bought; a day without rows has no bar (nothing is known, which is not zero)."""
    noons = [f"{day}T12:00" for day in days]
    traces = []
    for key, label, colour in _series(words):
        amounts = [_part(spend[day], key) if day in spend else None for day in days]
        if any(amounts):
            traces.append(_bar(label, colour, currency, x=noons, y=amounts, width=0.82 * DAY_MS))
    first, end = days[0], days[-1] + timedelta(days=1)
    ticks = [day for day in days if day.day in (1, 8, 15, 22, 29)]
    axis: dict[str, Any] = {
        "type": "date", "range": [f"{first}T00:00", f"{end}T00:00"], "ticks": "",
        "tickvals": [f"{day}T12:00" for day in ticks], "ticktext": [str(day.day) for day in ticks],
        "hoverformat": "%-d %b %Y",
    }  # fmt: skip
    layout: Json = {
        "barmode": "stack", "xaxis": axis, "yaxis": _money_axis(spend, currency), "margin": _margin(52, 8, 8, 22),
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def daily_use(days: Sequence[date], spend: Mapping[date, MonthSpend], words: Words) -> Json:
    """Draw what share of each day's GPU-hours went to which state; unknown is a share of its own, never left out."""
    noons = [f"{day}T12:00" for day in days]
    traces = []
    for state in TIME_STATES:
        shares = [_share(spend.get(day), state) for day in days]
        if any(shares):
            trace = _bar(words[state], var(state), "", x=noons, y=shares, width=0.82 * DAY_MS)
            trace["hovertemplate"] = f"{escape(words[state])} %{{y:.0f}} %<extra></extra>"
            traces.append(trace)
    first, end = days[0], days[-1] + timedelta(days=1)
    ticks = [day for day in days if day.day in (1, 8, 15, 22, 29)]
    axis: dict[str, Any] = {
        "type": "date", "range": [f"{first}T00:00", f"{end}T00:00"], "ticks": "",
        "tickvals": [f"{day}T12:00" for day in ticks], "ticktext": [str(day.day) for day in ticks],
        "hoverformat": "%-d %b %Y",
    }  # fmt: skip
    shares_axis = {"range": [0, 101], "tickvals": [0, 50, 100], "ticktext": ["0", "50 %", "100 %"]}
    layout: Json = {"barmode": "stack", "xaxis": axis, "yaxis": shares_axis, "margin": _margin(52, 8, 8, 22)}
    return {"data": traces, "layout": layout}


def monthly_spend(
    months: Sequence[date], spend: Mapping[date, MonthSpend], currency: str, words: Words, labels: Sequence[str]
) -> Json:
    """Draw what each month's money bought; a month without rows has no bar."""
    places = list(range(len(months)))
    traces = []
    for key, label, colour in _series(words):
        amounts = [_part(spend[month], key) if month in spend else None for month in months]
        if any(amounts):
            traces.append(_bar(label, colour, currency, x=places, y=amounts, width=0.62))
    axis = {"range": [-0.6, len(months) - 0.4], "ticks": "", "tickvals": places, "ticktext": list(labels)}
    layout: Json = {
        "barmode": "stack", "xaxis": axis, "yaxis": _money_axis(spend, currency), "margin": _margin(52, 8, 8, 22),
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _share(spend: MonthSpend | None, state: str) -> float | None:
    if spend is None or not spend.all_hours:
        return None
    return round(100 * spend.hours(state) / spend.all_hours, 2)


def team_spend(names: Sequence[str], spend: Sequence[MonthSpend], currency: str, words: Words) -> Json:
    """Draw one bar per team, largest on top, split by state, with the amount at its end."""
    labels = [escape(_shortened(name)) for name in names]
    rows = list(range(len(names)))
    traces = []
    for key, label, colour in _series(words):
        amounts = [_part(one, key) for one in spend]
        if any(amounts):
            traces.append(_bar(label, colour, currency, x=amounts, y=rows, orientation="h", width=0.62))
    texts = [
        {
            "x": float(max(one.total, Decimal(0))), "y": row, "text": short_money(one.total, currency),
            "xanchor": "left", "xshift": 4, "font": {"size": 11, "color": var("ink"), "weight": 600},
        }
        for row, one in zip(rows, spend, strict=True)
    ]  # fmt: skip
    left = 16 + int(PIXELS_A_LETTER * max((_letters(_shortened(name)) for name in names), default=0))
    layout: Json = {
        "barmode": "stack", "hovermode": "y unified", "annotations": texts, "margin": _margin(left, 64, 4, 4),
        "xaxis": {"visible": False, "rangemode": "tozero"},
        "yaxis": {
            "autorange": "reversed", "tickvals": rows, "ticktext": labels, "showgrid": False, "rangemode": "normal",
            "tickfont": {"size": 12, "color": var("ink")},
            "ticks": "outside", "ticklen": 6, "tickcolor": "rgba(0,0,0,0)",
        },
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _series(words: Words) -> list[tuple[str, str, str]]:
    return [(state, words[state], var(state)) for state in MONEY_STATES] + [("beside", words["beside"], var("fan-50"))]


def _part(spend: MonthSpend, key: str) -> float:
    return round(float(spend.beside if key == "beside" else spend.of(key)), 2)


def _bar(label: str, colour: str, currency: str, *, x: Any, y: Any, **more: Any) -> Json:
    axis = "x" if more.get("orientation") == "h" else "y"
    hover = f"{escape(label)} {money_prefix(currency)}%{{{axis}:,.2f}}<extra></extra>"
    trace: Json = {"type": "bar", "x": x, "y": y, "name": label, "marker": {"color": colour}, "hovertemplate": hover}
    return trace | more


def _money_axis(spend: Mapping[date, MonthSpend], currency: str) -> dict[str, Any]:
    """Put ticks at round amounts, written short."""
    top = max((float(one.total) for one in spend.values()), default=0.0)
    if top <= 0:
        return {"range": [0, 1], "tickvals": [0], "ticktext": ["0"]}
    step = next(step for step in _round_steps() if top / step <= 4)
    marks = [index * step for index in range(int(top / step) + 2)]
    return {
        "range": [0, max(top * 1.06, step)],
        "tickvals": marks,
        "ticktext": [short_money(mark, currency) if mark else "0" for mark in marks],
    }


def _round_steps() -> list[float]:
    return [base * 10.0**power for power in range(-2, 13) for base in (1, 2, 5)]


def _margin(left: int, right: int, top: int, bottom: int) -> dict[str, int]:
    return {"l": left, "r": right, "t": top, "b": bottom}


def _shortened(name: str) -> str:
    if _letters(name) <= LONGEST_NAME:
        return name
    short = name[: LONGEST_NAME - 1]
    while _letters(short) > LONGEST_NAME - 1:
        short = short[:-1]
    return short + "…"


def _letters(text: str) -> int:
    """Count letters as wide as Latin ones; those of East Asian scripts are twice as wide."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
