"""What is written differently in each language: lengths of time, and sentences in a row."""

from __future__ import annotations

from datetime import date, timedelta
from functools import reduce

from django.utils.formats import date_format, get_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from common.figures import DateForms
from common.formats import NBSP


def duration(span: timedelta) -> str:
    """Write ``45 s``, ``12 min``, ``3 h 30 min``, ``2 d 4 h`` in the reader's language: two units at most."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 60:
        return _in_unit(_("%(n)s s"), seconds)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if hours < 1:
        return _in_unit(_("%(n)s min"), minutes)
    if days < 1:
        parts = [_in_unit(_("%(n)s h"), hours), _in_unit(_("%(n)s min"), minutes % 60) if minutes % 60 else ""]
    else:
        parts = [_in_unit(_("%(n)s d"), days), _in_unit(_("%(n)s h"), hours % 24) if hours % 24 else ""]
    return " ".join(part for part in parts if part)


def _in_unit(text: str, number: int) -> str:
    """Put the number into its unit's words, held together by a no-break space."""
    return (text % {"n": number}).replace(" ", NBSP)


def sentences(*parts: object) -> str:
    """Join whole sentences as the reader's language does; an empty one is left out."""
    said = [str(part) for part in parts if part]
    pattern = _("%(sentence)s %(next)s")
    return reduce(lambda text, one: pattern % {"sentence": text, "next": one}, said) if said else ""


def comma() -> str:
    """Give what stands between the items of a list."""
    return pgettext("between items", ", ")


def semicolon() -> str:
    """Give what stands between two parts of a line."""
    return pgettext("between parts", "; ")


def colon() -> str:
    """Give what stands before an explanation."""
    return pgettext("before an explanation", ": ")


def full_stop() -> str:
    """Give what ends a sentence that ends in a figure."""
    return pgettext("end of a sentence", ".")


def date_forms() -> DateForms:
    """Give the patterns that pictures write times with."""
    return DateForms(
        day=get_format("PLOT_DAY_FORMAT"), moment=get_format("PLOT_MOMENT_FORMAT"), hours=pgettext("unit", "h")
    )


def days_text(first: date, last: date) -> str:
    """Write a range of days, the last one included: ``1–19 Jun 2025``, ``2025年6月1日–19日``."""
    if first == last:
        return date_format(first, "DATE_FORMAT")
    same = "MONTH" if (first.year, first.month) == (last.year, last.month) else "YEAR"
    if first.year != last.year:
        same = "NOTHING"
    return _("%(first)s–%(last)s") % {
        "first": date_format(first, f"FIRST_OF_SAME_{same}_FORMAT"),
        "last": date_format(last, f"LAST_OF_SAME_{same}_FORMAT"),
    }
