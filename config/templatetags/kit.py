"""Parts of the kit that are drawn from values: cells and totals of tables, the menu, links to explanations.

How a page uses the kit stands in `common/listing.py` (tables and files), `common/pictures.py` (figures) and on the page
`/design/`, which shows every part.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from django import template
from django.template.loader import get_template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common import formats
from common.cells import AMOUNTS, RIGHT, Badge, Kind, Link, Money, money_of, value_of
from common.listed import Listing, Total
from common.listing import Column
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
            return SafeString(get_template(column.template).template.render(context))
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
    match value:
        case Link():
            return _link(value)
        case Badge():
            return badge(value.text, value.tone, value.icon)
        case datetime():
            return moment(value, zone)
        case timedelta():
            return format_html("{}", formats.duration(value))
    if column.kind is Kind.STATE:
        return state(str(value))
    if column.kind is Kind.MIX:
        return mix(value)
    if column.kind is Kind.CODE:
        return format_html("<code>{}</code>", value)
    return format_html("{}", _number(column, value))


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
    return UTC if visitor is None else visitor.house.zone  # type: ignore[no-any-return]


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
