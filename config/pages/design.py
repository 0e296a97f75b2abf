"""The design system on one page: every part, in every state, with pretend values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from billing.charts import daily_spend
from billing.domain.month_spend import MonthSpend
from common.cells import Badge, Kind, Link, Money
from common.exports import file_answer
from common.figures import TOKENS_FILE, token_pairs
from common.listed import arranged, listed
from common.listing import Column, TableSpec, read_listing
from common.pictures import Picture
from common.state_words import STATE_WORDS
from common.words import days_text
from people.visitor import Visitor, signed_in

STATES = ("working", "low", "held", "empty", "unknown", "stopped")
AT = datetime(2025, 6, 19, 14, 35, tzinfo=UTC)

MACHINES = TableSpec(
    "machines",
    (
        Column("machine", _("Machine"), Kind.LINK),
        Column("state", _("State"), Kind.STATE),
        Column("result", _("Bill"), Kind.BADGE, desk=True),
        Column("since", _("Since"), Kind.MOMENT, desk=True),
        Column("idle_for", _("Idle for"), Kind.SPAN, total=True),
        Column("gpus", _("GPUs"), Kind.NUMBER, total=True, desk=True),
        Column("gpu_hours", _("GPU-hours"), Kind.HOURS, total=True),
        Column("working_pct", _("Working"), Kind.PERCENT, places=0, desk=True),
        Column("money_by", _("Where the money went"), Kind.MIX, sortable=False, desk=True, parts=STATES),
        Column("price", _("Per hour"), Kind.PER_HOUR),
        Column("cost", _("Cost"), Kind.MONEY, total=True),
    ),
    default_sort="-cost",
    page_size=4,
    row_id="id",
    flag="flag",
)


@dataclass(frozen=True)
class Row:
    """A pretend machine."""

    id: str
    machine: Link
    state: str
    result: Badge | None
    since: datetime | None
    idle_for: timedelta | None
    gpus: int
    gpu_hours: float | None
    working_pct: float | None
    money_by: dict[str, Decimal]
    price: Money
    cost: Money
    flag: str = ""


def rows() -> list[Row]:
    """Give pretend machines, some with values that are not known."""
    made = []
    facts = (
        ("vis-h100-07", "vision", "held", 11, "32.80", "16393.42", "USD", 41.0),
        ("rob-a100-08", "robotics", "empty", 60, "14.20", "9120.10", "EUR", 12.5),
        ("nlp-h100-12", "nlp", "working", None, "32.80", "21440.07", "USD", 88.2),
        ("eval-l40s-02", "nlp-eval", "low", None, "6.40", "3100.00", "USD", 71.0),
        ("stray-01", "", "unknown", None, None, None, "", None),
        ("dev-a10-04", "vision", "stopped", None, "1.10", "88.20", "USD", 55.0),
    )
    for number, (name, team, state, idle, price, cost, currency, working) in enumerate(facts):
        badge = Badge(_("billed"), "good", "check", "billed") if number % 2 else Badge(_("provisional"), "", "clock")
        parts = {one: Decimal(6 - place) for place, one in enumerate(STATES)} if cost else {}
        made.append(
            Row(
                name, Link(name, "#" + name, team or str(_("Unassigned")), flag=not team), state, badge,
                AT - timedelta(hours=idle) if idle else None, timedelta(hours=idle) if idle else None, 8,
                None if working is None else 8 * 24 * 19 * working / 100, working, parts,
                Money(Decimal(price) if price else None, currency), Money(Decimal(cost) if cost else None, currency),
                "" if team else "flagged",
            )
        )  # fmt: skip
    return made


def picture() -> Picture:
    """Give a pretend month of spend with a gap."""
    days = [date(2025, 6, day) for day in range(1, 31)]
    spend = {}
    for number, day in enumerate(days[:19]):
        if number != 9:
            wave = Decimal(100 + 9 * (number % 7))
            spend[day] = MonthSpend(
                money={"working": 60 * wave, "low": 14 * wave, "held": 11 * wave, "empty": 9 * wave}
            )
    words = {key: str(word) for key, word in STATE_WORDS.items()}
    return Picture(
        id="figure-design", title=_("Spend by day"), figure=daily_spend(days, spend, "USD", words),
        summary=_("One bar per day, split by GPU state"), unit="USD",
        period=days_text(date(2025, 6, 1), date(2025, 6, 19)), zone="Europe/Berlin",
        cut=_("usage cut, effective"), until=AT,
        gaps=ngettext("1 day without any data", "%(n)s days without any data", 1) % {"n": 1},
        rows="#machines", file="?as=csv",
        how="money#provisional-cost", legend=STATES[:5], size="s",
    )  # fmt: skip


@require_safe
@signed_in
def design(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """Show every part of the kit; the table sorts, searches and gives files like any other."""
    asked = read_listing(request.GET, MACHINES)
    if asked.as_file:
        return file_answer(
            MACHINES, arranged(rows(), asked), asked, "design-example", zone=visitor.house.zone
        )  # fmt: skip
    context: dict[str, Any] = {"visitor": visitor, "table": listed(rows(), asked), "picture": picture()}
    context["tokens"] = sorted(token_pairs(TOKENS_FILE.read_text(encoding="utf-8")).items())
    context |= {
        "live": 300,
        "states": STATES,
        "icons": icon_names(),
        "soon": visitor.now + timedelta(minutes=29, seconds=42),
    }
    return render(request, "config/design.html", context | samples())


def icon_names() -> list[str]:
    """Give the names of the sprite's icons."""
    sprite = (settings.BASE_DIR / "templates" / "icons.svg").read_text(encoding="utf-8")
    return re.findall(r'id="i-([\w-]+)"', sprite)


def samples() -> dict[str, Any]:
    """Give pretend values of the other parts."""
    stats = [
        {"label": _("Spent this month"), "n": "$1,672,930", "sub": _("all provisional"), "tone": ""},
        {"label": _("Idle right now"), "n": "$353.26", "unit": "/ h", "sub": _("15 machines")},
        {"label": _("Working"), "n": "71.8 %", "sub": _("of the GPU-hours seen")},
        {"label": _("Not known"), "n": "9,433", "unit": _("GPU-hours"), "sub": _("can’t be seen, counted apart")},
    ]
    tabs = [
        {"label": _("Lines"), "href": "#main", "current": True},
        {"label": _("Exports"), "href": "#main", "count": 3},
    ]
    filters = [
        {"name": "team", "label": _("Team"), "value": "nlp", "options": [("", _("All")), ("nlp", "nlp")]},
        {"name": "month", "label": _("Month"), "value": "", "options": [("", date_format(AT, "YEAR_MONTH_FORMAT"))]},
    ]
    runs = [("low", 40), ("working", 45), ("unknown", 5), ("working", 12), ("held", 42)]
    bars = {
        "mix": {"working": 60, "low": 14, "held": 11, "empty": 9, "unknown": 2, "stopped": 4},
        "band": runs, "trend": [4, 5, 4, None, 7, 6, 8],
    }  # fmt: skip
    return {"stats": stats, "tabs": tabs, "filters": filters, "bars": bars}
