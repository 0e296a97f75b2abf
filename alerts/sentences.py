"""Facts in, translated words out: our own kinds (source, channel), and whatever has no renderer of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from common.code_words import FINDING_WORDS
from common.errors import FleetledgerError
from common.periods import parse_moment
from common.words import sentences
from people.queries import organization_zone


def render(kind: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Give title, sentence, lines, link and link text for ``facts`` of an alert of ``kind``."""
    is_over = facts.get("message_kind") == "resolved"
    title, sentence = _OWN.get(kind, _generic)({**facts, "kind": kind}, is_over)
    return {
        "title": title,
        "sentence": sentence,
        "lines": _lines(facts),
        "link": str(facts.get("link") or "/"),
        "link_text": _("Open it in Fleetledger"),
    }


def _source(facts: Mapping[str, Any], is_over: bool) -> tuple[str, str]:
    name = facts["subject"]
    if is_over:
        title = _("Source %(name)s is back") % {"name": name}
        return title, _("It answers again. Samples are read from where they ended.")
    title = _("Source %(name)s can't be read") % {"name": name}
    loss = _("Its GPUs are shown as unknown until it answers again; nothing is released meanwhile.")
    return title, sentences(facts.get("message"), loss)


def _channel(facts: Mapping[str, Any], is_over: bool) -> tuple[str, str]:
    name = facts["subject"]
    if is_over:
        return _("Channel %(name)s works again") % {"name": name}, _("Messages go out over it as before.")
    if facts.get("code") == "channel_broken":
        return (
            _("Channel %(name)s is broken") % {"name": name},
            _("The other side refused for good, so nothing is sent. Mend its address and apply the file again."),
        )
    return (
        _("Channel %(name)s fails") % {"name": name},
        _("It accepted nothing for an hour. What waits is tried again for a day, then told over the fallback."),
    )


def _generic(facts: Mapping[str, Any], is_over: bool) -> tuple[str, str]:
    name, kind = facts["subject"], str(facts.get("kind") or "")
    words = {"name": name, "kind": FINDING_WORDS.get(kind) or kind.replace("_", " ") or _("needs a look")}
    if is_over:
        return _("%(name)s: over (%(kind)s)") % words, ""
    return _("%(name)s: %(kind)s") % words, str(facts.get("sentence") or "")


_OWN = {"source": _source, "channel": _channel}


def _lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Show the facts that every kind may have: how long, how high, how sure, how dear."""
    shown = (
        (_("Since"), _moment(facts.get("since"))),
        (_("Covered minutes"), facts.get("minutes")),
        (_("Highest activity"), _percent(facts.get("peak_pct"))),
        (_("Coverage"), _percent(facts.get("coverage_pct"))),
        (_("Cost so far"), _amount(facts.get("idle_cost"), facts.get("currency"))),
        (_("Cost an hour"), _amount(facts.get("price_per_hour"), facts.get("currency"))),
        (_("Reason"), facts.get("reason")),
        (_("What to do"), facts.get("hint")),
    )
    return [(label, str(value)) for label, value in shown if value not in (None, "")]


def _moment(text: Any) -> str:
    try:
        moment: datetime = parse_moment(str(text)).astimezone(organization_zone())
    except FleetledgerError:
        return ""
    return f"{moment:%Y-%m-%d %H:%M} {moment.tzname()}"


def _percent(value: Any) -> str:
    return "" if value in (None, "") else f"{value} %"


def _amount(value: Any, currency: Any) -> str:
    return "" if value in (None, "") else f"{value} {currency or ''}".strip()
