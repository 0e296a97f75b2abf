"""Teams, sub-teams and cost centres, set by hand where fleet.yaml does not name them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from alerts.queries.routes import route_mentions
from billing.queries.team_mentions import budget_mentions
from common.clock import real_now
from common.errors import FleetledgerError, Refused
from fleet.actions.rename_team import follow_rename
from fleet.queries.team_mentions import team_mentions
from people.actions.team_edits import TeamForm, change_team, make_team, remove_team
from people.queries.persons import last_applied
from people.queries.team_list import team_rows
from people.roles import Right
from people.sentences.refusals import Refusal, refusal
from people.visitor import Visitor, signed_in


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def teams(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show every team; a POST makes, changes or removes one."""
    if not visitor.can(Right.MANAGE_TEAMS):
        return render(request, "403.html", status=403)
    if request.method != "POST":
        return _page(request, visitor)
    act = ACTS.get(request.POST.get("act", ""))
    if act is None:
        return render(request, "400.html", status=400)
    try:
        with transaction.atomic():
            messages.success(request, act(request, visitor))
    except FleetledgerError as error:
        return _page(request, visitor, refused=refusal(error))
    return redirect("team_settings")


def _page(request: HttpRequest, visitor: Visitor, refused: Refusal | None = None) -> HttpResponse:
    rows = team_rows()
    chosen = request.POST.get("team") or request.GET.get("team") or ""
    edited = next((row for row in rows if str(row.id) == chosen and row.origin != "file"), None)
    context: dict[str, Any] = {
        "nav": "team_settings", "visitor": visitor, "rows": rows, "edited": edited, "applied": last_applied(),
        "refused": refused, "given": request.POST if refused else {},
    }  # fmt: skip
    return render(request, "people/team_settings.html", context, status=refused.status if refused else 200)


def _form(request: HttpRequest) -> TeamForm:
    return TeamForm(
        name=request.POST.get("name", ""), parent_id=_id(request, "parent"),
        cost_center=request.POST.get("cost_center", "")[:120],
    )  # fmt: skip


def _make(request: HttpRequest, visitor: Visitor) -> str:
    form = _form(request)
    make_team(now=real_now(), by=visitor.user, form=form)
    return _("The team %(name)s is there now.") % {"name": form.name.strip()}


def _change(request: HttpRequest, visitor: Visitor) -> str:
    form = _form(request)
    new = form.name.strip()
    old = change_team(now=real_now(), by=visitor.user, team_id=_id(request, "team") or 0, form=form)
    if old.casefold() != new.casefold():
        refuse_if_named(old)
        follow_rename(old=old, new=new)
    return _("The team %(name)s was changed.") % {"name": new}


def refuse_if_named(name: str) -> None:
    """Raise Refused (team_named_elsewhere) when a policy, source or route names the team."""
    places = [*team_mentions(name), *route_mentions(name), *budget_mentions(name)]
    if places:
        raise Refused(
            "team_named_elsewhere", f"{name} is named in {', '.join(places[:5])}.", hint="Change the name there first."
        )


def _remove(request: HttpRequest, visitor: Visitor) -> str:
    remove_team(now=real_now(), by=visitor.user, team_id=_id(request, "team") or 0)
    return _("The team was removed.")


ACTS: dict[str, Callable[[HttpRequest, Visitor], str]] = {"make": _make, "change": _change, "remove": _remove}


def _id(request: HttpRequest, name: str) -> int | None:
    text = request.POST.get(name, "")
    if not text:
        return None
    return int(text) if text.isdecimal() and len(text) < 18 else 0
