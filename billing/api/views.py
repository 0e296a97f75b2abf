"""Routes of `billing`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from billing.api.shapes import PriceShape, RuntimeShape, SpendShape
from billing.domain.spend import BASES, CUTS, GROUPINGS
from billing.domain.spend_asked import SpendAsked, read_asked
from billing.queries.price_list import prices_page
from billing.queries.runtime import runtime_page
from billing.queries.spend import spend
from billing.queries.spend_sql import in_days
from common.errors import BadInput, Where
from common.money import plain
from common.pages import Page, Slice
from common.periods import month_period
from people.api.documented import documented, listed
from people.api.parameters import TEAM, Parameter
from people.api.routes import ListRoute

LONGEST = timedelta(days=1830)
LONGEST_BY_HOURS = timedelta(days=93)
MONTH = Parameter("month", "like 2025-06, in the zone")


@documented(SpendShape, "Spend of a period by any grouping, as `spend` prints it.")
class SpendRoute(ListRoute):
    """Spend."""

    own_parameters = (
        MONTH,
        Parameter("since", "a date (the start of that day in the zone) or a whole hour"),
        Parameter("until", "likewise; the period ends before it"),
        Parameter("group_by", f"several with commas: {', '.join(GROUPINGS)}; team when absent"),
        Parameter("basis", "effective (amortised) or billed (cash)", choices=BASES),
        Parameter("cut", "usage (by when it ran) or invoice (by billing period)", choices=CUTS),
        Parameter("time_zone", "cuts days and months; the organisation's when absent"),
        TEAM,
    )

    def get(self, request: Request) -> Response:
        """Answer a page of rows with the totals of all."""
        asked = self.asked(request)
        part = self.part_of(asked)
        choice = self.rows_of(asked)
        wanted = read_asked(asked, self.visitor.house.time_zone)
        _check_length(wanted)
        found = spend(
            wanted.period, group_by=wanted.group_by, zone=wanted.zone, basis=wanted.basis, cut=wanted.cut,
            team_ids=choice.team_ids, with_unassigned=choice.unassigned,
        )  # fmt: skip
        start = part.after or 0
        document = replace(found, rows=found.rows[start : start + part.limit]).as_json()
        last = start + part.limit if len(found.rows) > start + part.limit else None
        totals = {currency: plain(amount) for currency, amount in found.totals.items()}
        share = found.billed_share_pct
        more = {"totals": totals, "billed_share_pct": share, "next": self._next(request, Page([], last))}
        return Response({**document, **more})


def _check_length(asked: SpendAsked) -> None:
    """Refuse periods that no page could show; what only hours can tell reads each of them."""
    longest = LONGEST if in_days(asked.group_by) else LONGEST_BY_HOURS
    if asked.period.end - asked.period.start > longest:
        hint = f"Ask for {longest.days} days at most" + (
            "." if longest == LONGEST else ", or group by team, account or day."
        )
        raise BadInput(
            "period_too_long", "This period is too long for one answer.", hint=hint, where=Where(key="since")
        )


@listed(RuntimeShape, "When instances ran in a month, and what that cost, as `runtime` prints it.")
class RuntimeRoute(ListRoute):
    """Run time; a page is of so many instances."""

    own_parameters = (MONTH, TEAM)
    limit = Parameter("limit", "of how many instances an answer is at most", "count", most=100, usual=10)

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        if not asked.get("month"):
            raise BadInput(
                "bad_month", "No month is given.", hint="Give month, like 2025-06.", where=Where(key="month")
            )
        period = month_period(asked["month"], self.visitor.house.zone)
        return runtime_page(period, self.rows_of(asked), part)


@listed(PriceShape, "Declared and suggested prices; for roles of the whole organisation.")
class PricesRoute(ListRoute):
    """Prices."""

    for_everything = True
    own_parameters = (
        Parameter("provider", "only of this provider"),
        Parameter("sku", "only of this SKU"),
        Parameter("gpu_model", "only of this GPU model"),
        Parameter("region", "only of this region"),
        Parameter("purchase_option", "only of this purchase option"),
        Parameter("unit", "only per this unit", choices=("instance_hour", "gpu_hour", "gb_month")),
        Parameter("currency", "only in this currency"),
        Parameter("suggested", "true: only from the shipped price book; false: only declared", "flag"),
        Parameter("valid_at", "only what holds at this time", "time"),
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        return prices_page(asked, part)
