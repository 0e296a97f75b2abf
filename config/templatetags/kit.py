"""Parts of the kit that are drawn from values: cells and totals of tables, the menu, links to explanations.

How a page uses the kit stands in `common/listing.py` (tables and files), `common/pictures.py` (figures) and on the page
`/design/`, which shows every part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common import formats
from common.cells import AMOUNTS, RIGHT, Kind, Link, Money, money_of, value_of
from common.listed import Listing, Total
from common.listing import Column
from common.words import duration
from config.help import where
from config.navigation import Entry, menu
from config.templatetags.fleetledger import icon, mix, moment, state

register = template.Library()
NOTHING = format_html('<span class="faint">{}</span>', formats.MISSING)


@register.simple_tag(takes_context=True)
def cell(context: template.Context, row: Any, column: Column) -> SafeString:
    """Draw what ``row`` has in ``column``."""
    value = value_of(row, column.key)
    if column.template:
        # Not `flatten`: a row's template sees the page (`visitor`, `csrf_token`) and its own row.
        with context.push(row=row, value=value, column=column):
            assert context.template is not None  # a tag is always drawn by a template
            return context.template.engine.get_template(column.template).render(context)
    if column.kind in AMOUNTS:
        value = money_of(value, str(value_of(row, column.currency) or ""))
    body = draw(column, value, zone_of(context))
    note = value_of(row, column.note) if column.note else ""
    return format_html("{}<small>{}</small>", body, note) if note else body


def draw(column: Column, value: Any, zone: tzinfo) -> SafeString:
    """Draw one value; what is not known is an em dash, and an unknown price says so."""
    if isinstance(value, Money):
        return _amount(value, "/ h" if column.kind is Kind.PER_HOUR else "")
    if value is None or value == "":
        return NOTHING
    if isinstance(value, datetime):
        return moment(value, zone)
    drawn = _BY_KIND.get(Kind(column.kind))
    return drawn(value) if drawn else format_html("{}", _number(column, value))


def _number(column: Column, value: Any) -> str:
    if column.kind is Kind.PERCENT:
        return formats.percent(float(value), 1 if column.places is None else column.places)
    if column.kind is Kind.HOURS:
        return formats.hours(float(value))
    if column.kind is Kind.NUMBER:
        places = column.places if column.places is not None else (0 if value == int(value) else 1)
        return formats.count(value, places)
    return str(value)


def _amount(value: Money, unit: str) -> SafeString:
    if value.amount is None:
        return format_html('<span class="muted">{}</span>', _("unpriced"))
    text = formats.money(value.amount, value.currency)
    body = format_html("{}&nbsp;{}", text, unit) if unit else format_html("{}", text)
    return format_html("{}<small>{}</small>", body, value.note) if value.note else body


def _link(value: Link) -> SafeString:
    css = "quiet flag" if value.flag else "quiet"
    body = format_html('<a class="{}" href="{}">{}</a>', css, value.href, value.text) if value.href else value.text
    return format_html("{}<small>{}</small>", body, value.note) if value.note else format_html("{}", body)


@register.simple_tag
def badge(text: Any, tone: str = "", name: str = "") -> SafeString:
    """Draw a badge: an icon and a word."""
    return format_html('<span class="badge {}">{}{}</span>', tone, icon(name) if name else "", text)


_BY_KIND: dict[Kind, Callable[[Any], SafeString]] = {
    Kind.LINK: _link,
    Kind.BADGE: lambda value: badge(value.text, value.tone, value.icon),
    Kind.SPAN: lambda value: format_html("{}", duration(value)),
    Kind.STATE: state,
    Kind.MIX: mix,
    Kind.CODE: lambda value: format_html("<code>{}</code>", value),
}


@register.simple_tag(takes_context=True)
def total(context: template.Context, listing: Listing, column: Column) -> SafeString:
    """Draw the total of a column over all filtered rows; currencies stand under each other, never added."""
    found = listing.totals.get(column.key)
    if found is None:
        return SafeString("")
    if not isinstance(found, Total):
        found = Total(found)
    if column.kind not in AMOUNTS:
        return draw(column, found.value, zone_of(context))
    shown = [_amount(Money(Decimal(amount), name), "/ h" if column.kind is Kind.PER_HOUR else "")
             for name, amount in sorted(found.money.items())]  # fmt: skip
    if found.unpriced:
        text = ngettext("+ %(n)s unpriced", "+ %(n)s unpriced", found.unpriced) % {"n": formats.count(found.unpriced)}
        shown.append(format_html("<small>{}</small>", text))
    return format_html_join("", '<span class="line">{}</span>', ((one,) for one in shown)) if shown else NOTHING


@register.filter
def is_right(column: Column) -> bool:
    """Say whether a column is set to the right."""
    return column.kind in RIGHT


@register.filter
def row_key(row: Any, key: str) -> Any:
    """Give what a row has under a key, "" for nothing."""
    found = value_of(row, key) if key else None
    return "" if found is None else found


def zone_of(context: template.Context) -> tzinfo:
    """Give the organisation's zone of the page."""
    visitor = context.get("visitor")
    return UTC if visitor is None else visitor.house.zone


@register.simple_tag
def how(address: str) -> SafeString:
    """Lead to the words that say how a figure is computed: ``page#anchor`` of docs/reference."""
    return format_html('<a class="how-link" href="{}">{}</a>', where(address), _("How this is computed"))


@register.simple_tag(takes_context=True)
def navigation(context: template.Context) -> list[tuple[Any, list[Entry]]]:
    """Give the menu of this visitor."""
    visitor, request = context.get("visitor"), context.get("request")
    match = getattr(request, "resolver_match", None)
    return menu(visitor, match.url_name if match else "") if visitor else []


@register.simple_tag
def track(used: float, limit: float, forecast: float | None = None) -> SafeString:
    """Draw what is used of a limit: solid spent, hatched forecast, a tick at the limit where it is passed."""
    top = max(float(limit), float(used), float(forecast or 0)) or 1.0
    share = formats.percent(100 * float(used) / float(limit), 0) if limit else formats.MISSING
    label = _("%(share)s of the limit") % {"share": share}
    rects = [("bg", 0.0, 100.0)]
    if forecast:
        rects.append(("fc", 0.0, 100 * float(forecast) / top))
    rects.append(("fg over" if used > limit else "fg", 0.0, 100 * float(used) / top))
    if top > limit:
        rects.append(("mark", 100 * float(limit) / top, 0.4))
    drawn = format_html_join(
        "", '<rect class="{}" x="{}%" width="{}%" height="100%"/>', ((c, f"{x:.2f}", f"{w:.2f}") for c, x, w in rects)
    )
    return format_html('<svg class="track" role="img" aria-label="{}">{}</svg>', label, drawn)


@register.simple_tag
def spark(values: Sequence[float | None]) -> SafeString:
    """Draw a small trend; a value that is not known leaves a gap. The figures stand beside it in words."""
    known = [float(value) for value in values if value is not None]
    if len(known) < 2:
        return NOTHING
    low, size = min(known), (max(known) - min(known)) or 1.0
    step = 80 / max(1, len(values) - 1)
    path, pen = [], "M"
    for place, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        path.append(f"{pen}{place * step:.1f},{18 - 16 * (float(value) - low) / size:.1f}")
        pen = "L"
    return format_html('<svg class="spark" viewBox="0 0 80 20" aria-hidden="true"><path d="{}"/></svg>', " ".join(path))


@register.simple_tag
def delta(text: str, tone: str = "", is_up: bool = True) -> SafeString:
    """Draw a change: an arrow and how much; ``tone`` good or bad where it is one."""
    return format_html('<span class="delta {}">{}{}</span>', tone, icon("up" if is_up else "down"), text)
