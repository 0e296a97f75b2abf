"""What is written differently in each language: lengths of time, and sentences in a row."""

from __future__ import annotations

from datetime import timedelta
from functools import reduce

from django.utils.translation import gettext as _

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
