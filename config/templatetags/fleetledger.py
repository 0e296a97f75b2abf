"""Parts of pages that are drawn, not written: icons, states, bars. Bars are SVG with widths in percent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django import template
from django.utils.formats import date_format, get_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from common import formats
from common.code_words import word_of
from common.figures import TEMPLATE_JSON
from common.refusal_words import refusal_words
from common.state_words import STATE_WORDS
from common.words import colon, comma, duration, full_stop, semicolon, sentences

register = template.Library()


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """Draw an icon of the sprite; the word beside it carries the meaning."""
    return format_html('<svg class="i {}" aria-hidden="true"><use href="#i-{}"/></svg>', css, name)


@register.simple_tag
def state(name: str, big: bool = False) -> SafeString:
    """Draw a state: its swatch and its word."""
    css = "state big" if big else "state"
    word = STATE_WORDS.get(name, name)
    return format_html('<span class="{}"><svg aria-hidden="true"><use href="#s-{}"/></svg>{}</span>', css, name, word)


@register.filter
def state_word(name: str) -> str:
    """Give the word of a state."""
    return str(STATE_WORDS.get(name, name))


@register.filter
def signal_word(name: str) -> str:
    """Give the words of a signal."""
    return word_of("signal", name)


@register.filter
def word(code: str, kind: str) -> str:
    """Give the words of a code of data: `{{ machine.purchase|word:"purchase" }}`."""
    return word_of(kind, code)


@register.simple_tag
def mix(parts: Mapping[str, Decimal | float], whole: Decimal | float | None = None) -> SafeString:
    """Draw parts of a whole as one bar; with ``whole`` given, the bar's length is the parts' share of it."""
    total = float(sum(parts.values()))
    length = float(whole) if whole else total
    if total <= 0 or length <= 0:
        return format_html('<span class="faint">{}</span>', formats.MISSING)
    label = comma().join(f"{STATE_WORDS[name]} {100 * float(v) / total:.0f} %" for name, v in parts.items() if v)
    return format_html('<svg class="mix" role="img" aria-label="{}">{}</svg>', label, _rects(parts.items(), length))


@register.simple_tag
def band(runs: Iterable[tuple[str, float]], label: str) -> SafeString:
    """Draw states over time from left to right; ``runs`` are (state, length)."""
    listed = list(runs)
    total = sum(length for _name, length in listed) or 1.0
    return format_html('<svg class="band" role="img" aria-label="{}">{}</svg>', label, _rects(listed, total))


def _rects(parts: Iterable[tuple[str, Decimal | float]], total: float) -> SafeString:
    left, rows = 0.0, []
    for name, value in parts:
        width = 100 * float(value) / total
        if width > 0:
            rows.append((name, f"{left:.2f}", f"{width:.2f}"))
        left += width
    return format_html_join("", '<rect class="{}" x="{}%" width="{}%" height="100%"/>', rows)


register.simple_tag(comma)
register.simple_tag(semicolon)
register.simple_tag(colon)
register.simple_tag(full_stop)


@register.filter
def money(amount: Decimal | int | None, currency: str) -> str:
    """Write money with two decimals."""
    return formats.money(None if amount is None else Decimal(amount), currency)


@register.simple_tag
def per_hour(amounts: Mapping[str, Decimal]) -> str:
    """Write what things cost an hour, currencies beside each other; nothing known is unpriced, never zero."""
    parts = [formats.money(amount, currency) for currency, amount in sorted(amounts.items())]
    return _("%(amount)s / h") % {"amount": " + ".join(parts)} if parts else _("unpriced")


@register.simple_tag
def amounts(found: Mapping[str, Decimal]) -> str:
    """Write sums of money, currencies beside each other; nothing known is an em dash, never zero."""
    parts = [formats.money(amount, currency) for currency, amount in sorted(found.items())]
    return " + ".join(parts) or formats.MISSING


@register.filter
def lead_money(amount: Decimal, currency: str) -> SafeString:
    """Write a large sum with its cents greyed."""
    return format_html("{}<small>{}</small>", *formats.money_parts(amount, currency))


@register.filter
def percent(share: float | None, places: int = 1) -> str:
    """Write a percentage."""
    return formats.percent(share, places)


@register.filter
def hours(value: float | None) -> str:
    """Write hours or GPU-hours."""
    return formats.hours(value)


@register.filter
def number(value: float | None) -> str:
    """Write a count."""
    return formats.count(value)


@register.filter
def span(value: timedelta | None) -> str:
    """Write how long something lasts."""
    return formats.MISSING if value is None else duration(value)


@register.simple_tag
def told(code: str, message: str, hint: str = "") -> SafeString:
    """Say an error that was stored, in the reader's language; the English details stand beside."""
    what, remedy = refusal_words(code, message, hint)
    if what == message:
        return format_html("{}", sentences(what, remedy))
    return format_html('{} <span class="muted small" lang="en">{}</span>', sentences(what, remedy), message)


@register.filter
def minutes(value: float | None) -> str:
    """Write a number of minutes as a length of time."""
    return formats.MISSING if value is None else duration(timedelta(minutes=value))


@register.simple_tag
def moment(value: datetime | None, zone: Any, with_day: bool = True) -> SafeString:
    """Write a time in the organisation's zone; the exact one in UTC stands in the markup."""
    if value is None:
        return format_html("{}", _("never"))
    local = value.astimezone(zone)
    text = date_format(local, "DATETIME_FORMAT" if with_day else "TIME_FORMAT")
    return format_html('<time datetime="{}">{} {}</time>', f"{value:%Y-%m-%dT%H:%M:%SZ}", text, f"{local:%Z}")


@register.simple_tag
def hover_day() -> str:
    """Give the pattern with which pictures write the day that one points at."""
    return str(get_format("PLOT_HOVER_DAY_FORMAT"))


@register.simple_tag
def chart_theme() -> dict[str, Any]:
    """Give the chart theme, sent once with a page."""
    return TEMPLATE_JSON


@register.filter
def of(values: Mapping[str, Any], key: str) -> Any:
    """Give the value of ``key``, or None."""
    return values.get(key)
