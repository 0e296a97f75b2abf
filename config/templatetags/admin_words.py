"""Words of the pages of admins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from common.formats import MISSING, count, percent
from fleet.queries.data_health import Cell
from people.roles import ROLE_WORDS

register = template.Library()


@register.filter
def pretty(value: Any) -> str:
    """Write JSON values for people: one line per thing, letters as they are."""
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True)


@register.filter
def role_word(name: str) -> str:
    """Give the word of a role."""
    return str(ROLE_WORDS.get(name, name))


@register.simple_tag
def coverage_strip(cells: Sequence[Cell], zone: Any) -> SafeString:
    """Draw a source's day, one cell per half hour: whole, thin, too little to judge, or nothing at all."""
    width = 100 / max(len(cells), 1)
    rects = [
        (
            _shade(cell),
            f"{index * width:.3f}",
            f"{width * 0.92:.3f}",
            f"{cell.start.astimezone(zone):%H:%M}",
            _said(cell),
        )
        for index, cell in enumerate(cells)
    ]
    drawn = format_html_join(
        "", '<rect class="{}" x="{}%" width="{}%" height="100%"><title>{} {}</title></rect>', rects
    )  # fmt: skip
    blank = sum(cell.coverage_pct is None for cell in cells)
    label = _("%(blank)d of %(all)d half hours without data") % {"blank": blank, "all": len(cells)}
    return format_html('<svg class="strip" role="img" aria-label="{}">{}</svg>', label, drawn)


def _shade(cell: Cell) -> str:
    if cell.coverage_pct is None:
        return "failed" if cell.failed else "nothing"
    return "whole" if cell.coverage_pct >= 95 else "thin" if cell.coverage_pct >= 80 else "little"


def _said(cell: Cell) -> str:
    if cell.coverage_pct is None:
        return _("the source failed") if cell.failed else _("no data")
    return percent(cell.coverage_pct)


@register.filter
def seconds(value: float | None, places: int = 0) -> str:
    """Write seconds with their unit."""
    return MISSING if value is None else _("%(n)s s") % {"n": count(value, places)}
