"""A figure with all that a page must say about it: unit, period, zone, cut, age of data, rows, file, explanation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.figures import Json


@dataclass(frozen=True)
class Picture:
    """What `kit/figure.html` shows.

    ``id``: unique in the page. ``figure``: plotly JSON. ``summary``: what it shows, for who can't see it. ``period``:
    "1-30 Jun 2025". ``zone``: in which days are cut, "" where no time is drawn. ``cut``: "usage cut, effective" for
    money. ``until``: the newest data in it. ``gaps``: a sentence on what is missing. ``rows``: address of its rows
    (`#teams` in the same page). ``file``: address of the same figures as CSV. ``how``: page#anchor of docs/reference.
    ``size``: s, l, xl, bars-1 to bars-9, rows-1 to rows-16.
    """

    id: str
    title: Any
    figure: Json
    summary: Any
    unit: Any
    period: Any
    rows: str
    file: str
    how: str
    zone: str = ""
    cut: Any = ""
    until: datetime | None = None
    gaps: Any = ""
    size: str = ""
    legend: tuple[str, ...] = ()
    is_empty: bool = False
    blank: Any = ""
