"""Figures from the same tokens as the pages.

The template `fleetledger` carries ``var(--token)`` colours: the browser resolves them, so one figure serves light and
dark and follows a theme switch. `fleetledger_light` and `fleetledger_dark` carry the values: for images made on the
server. No zoom chrome, horizontal grid only, gaps stay gaps, no WebGL traces and no ``<b>`` (our CSP stops both).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

TOKENS_FILE = Path(__file__).resolve().parent.parent / "static" / "css" / "tokens.css"
FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans', "
    "'Liberation Sans', Arial, sans-serif"
)
STATES = ("working", "low", "held", "empty", "unknown", "stopped")

Json = dict[str, Any]


@dataclass(frozen=True)
class DateForms:
    """How a picture writes days and moments in the reader's language: patterns of strftime. ``hours``: the unit."""

    day: str = "%d %b"
    moment: str = "%d %b %H:%M"
    hours: str = "h"


ENGLISH_DATES = DateForms()


def var(name: str) -> str:
    """Give the colour token ``name`` as the browser resolves it."""
    return f"var(--{name})"


def token_pairs(css: str) -> dict[str, tuple[str, str]]:
    """Read ``name -> (light, dark)`` out of the tokens' CSS."""
    found = re.findall(r"--([\w-]+):\s*light-dark\((#\w{6}), (#\w{6})\)", css)
    return {name: (light, dark) for name, light, dark in found}


def template(colour: Callable[[str], str]) -> go.layout.Template:
    """Build the chart theme over a way to name colours."""
    axis: Json = {
        "showgrid": False, "zeroline": False, "linecolor": colour("line-strong"), "tickcolor": colour("line-strong"),
        "ticks": "outside", "ticklen": 4, "tickfont": {"size": 11, "color": colour("ink-2")}, "fixedrange": True,
        "title": {"font": {"size": 11, "color": colour("ink-2")}, "standoff": 8}, "automargin": False,
    }  # fmt: skip
    value_axis: Json = axis | {
        "showgrid": True, "gridcolor": colour("grid"), "gridwidth": 1, "showline": False, "ticks": "",
        "rangemode": "tozero", "nticks": 5,
    }  # fmt: skip
    hover: Json = {
        "bgcolor": colour("raised"), "bordercolor": colour("line-strong"), "align": "left", "namelength": -1,
        "font": {"family": FONT, "size": 12, "color": colour("ink")},
    }  # fmt: skip
    layout: Json = {
        "font": {"family": FONT, "size": 12, "color": colour("ink")},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": [colour(name) for name in ("working", "held", "ink-2", "low", "accent", "empty-edge")],
        "margin": {"l": 52, "r": 12, "t": 8, "b": 28}, "showlegend": False,
        "hovermode": "x unified", "separators": ".,",
        "dragmode": False, "bargap": 0.25, "hoverlabel": hover, "xaxis": axis, "yaxis": value_axis,
        "colorscale": {"sequential": [[0, colour("heat-0")], [1, colour("heat-1")]]},
        "annotationdefaults": {"font": {"size": 12, "color": colour("ink-2")}, "showarrow": False},
        "shapedefaults": {"line": {"color": colour("line-strong"), "width": 1}},
    }  # fmt: skip
    data: Json = {
        "scatter": [{"line": {"width": 1.75, "shape": "linear"}, "connectgaps": False, "cliponaxis": False}],
        "bar": [{"marker": {"line": {"width": 0}}}],
        "heatmap": [{"xgap": 1, "ygap": 1, "showscale": False, "hoverongaps": False}],
    }
    return go.layout.Template(layout=layout, data=data)


_PAIRS = token_pairs(TOKENS_FILE.read_text(encoding="utf-8"))
pio.templates.default = None  # the page carries ours once; a figure carries none
pio.templates["fleetledger"] = template(var)
pio.templates["fleetledger_light"] = template(lambda name: _PAIRS[name][0])
pio.templates["fleetledger_dark"] = template(lambda name: _PAIRS[name][1])
TEMPLATE_JSON: Json = pio.templates["fleetledger"].to_plotly_json()
"""The web template: sent once with a page, not with every figure."""
