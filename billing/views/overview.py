"""The overview: what a person must know first, by what they are here for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from billing.filters import MonthChoice, read_choice
from billing.queries.month import month_of
from billing.tables.blocks import csv_rows, currency_blocks
from billing.views.overview_admin import admin_context
from billing.views.overview_engineer import engineer_context
from billing.views.overview_finance import finance_context
from billing.views.overview_manager import manager_context
from common.csv_files import csv_lines
from common.errors import BadInput
from fleet.queries.health import sources_health
from fleet.queries.standing import FleetNow, fleet_now
from people.visitor import Visitor, signed_in

VIEW_WORDS: dict[str, str | Promise] = {
    "admin": _("Admin"),
    "finance": _("Finance"),
    "manager": _("Manager"),
    "engineer": _("My machines"),
}
VIEWS_OF = {
    "admin": ("admin", "manager", "finance", "engineer"),
    "finance": ("finance", "manager"),
    "team_lead": ("manager", "engineer"),
    "engineer": ("engineer", "manager"),
    "viewer": ("manager",),
}
"""The views of each role, the strongest role and its own view first."""

CONTEXTS: dict[str, Callable[[MonthChoice, Visitor, FleetNow], dict[str, Any]]] = {
    "admin": admin_context,
    "finance": finance_context,
    "manager": manager_context,
    "engineer": engineer_context,
}


def views_for(visitor: Visitor) -> list[str]:
    """Give the views that a visitor's roles have, the one that is shown by itself first."""
    held = {grant.role for grant in visitor.house.granted}
    return list(dict.fromkeys(view for role, views in VIEWS_OF.items() if role in held for view in views))


@require_safe
@signed_in
def overview(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """Answer the question of who looks: a manager, an engineer, finance or an admin; ``?as=`` names another view."""
    choice = read_choice(request.GET, visitor)
    views = views_for(visitor)
    view = request.GET.get("as") or views[0]
    if view not in views:
        raise BadInput("bad_choice", f"as: there is no view {view!r} for you.", hint=f"There are: {', '.join(views)}.")
    context: dict[str, Any] = {"nav": "overview", "visitor": visitor, "choice": choice, "view": view}
    context["sources"] = sources_health(visitor.now)
    context["keep"] = [("as", view)] if view != views[0] else []
    context["tabs"] = [
        {"label": VIEW_WORDS[one], "href": f"/?as={one}", "current": one == view} for one in views if len(views) > 1
    ]
    context["fleet"] = fleet = fleet_now(choice.teams)
    if not choice.has_data and not fleet.instances:
        context["is_failing"] = any(source.is_failing for source in context["sources"])
        return render(request, "billing/first_run.html", context)
    context |= {"live": 60} | CONTEXTS[view](choice, visitor, fleet)
    return render(request, f"billing/overview_{view}.html", context)


@require_safe
@signed_in
def overview_csv(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """Send the table of teams as a file, exact amounts, row by row."""
    choice = read_choice(request.GET, visitor)
    month = month_of(choice.days, choice.teams)
    blocks = currency_blocks(month.by_team, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)
    answer = StreamingHttpResponse(csv_lines(csv_rows(blocks)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="fleetledger-teams-{choice.month:%Y-%m}-usage.csv"'
    return answer
