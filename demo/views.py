"""The page of incidents: start one, watch what Fleetledger makes of it, end it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from alerts.actions.render import words_of
from alerts.queries.told import told_since
from common.clock import real_now
from common.errors import BadInput, Refused
from demo.actions.incidents import end_incident, start_incident
from demo.queries import newest_runs
from demo.sentences import REFUSALS
from demo.tables import going_on, ready
from people.roles import Right
from people.visitor import Visitor, signed_in

TOLD_SHOWN = 8
LIVE_SECONDS = 30


@require_safe
@signed_in
def incidents(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show what can be started and what is going on."""
    if not visitor.sees_all:
        return render(request, "403.html", status=403)
    return render(request, "demo/incidents.html", _context(visitor))


@require_POST
@signed_in
def incident(request: HttpRequest, visitor: Visitor, name: str, act: str) -> HttpResponse:
    """Start or end one."""
    if not _may_act(visitor):
        return render(request, "403.html", status=403)
    do = {"start": start_incident, "end": end_incident}[act]
    try:
        do(now=real_now(), by=visitor.user.email, name=name)
    except (BadInput, Refused) as error:
        status = 404 if error.code == "unknown_incident" else 409
        return render(request, "demo/incidents.html", _context(visitor) | {"hint": REFUSALS[error.code]}, status=status)
    return redirect("incidents")


def _may_act(visitor: Visitor) -> bool:
    return visitor.can(Right.MANAGE_SETTINGS)


def _context(visitor: Visitor) -> dict[str, Any]:
    rows = going_on(newest_runs(visitor.now), visitor.now)
    on = {one.script.name for one in rows if one.run.is_on}
    since = min((one.run.started.since for one in rows), default=None)
    told = told_since(since, limit=TOLD_SHOWN) if since else None
    return {
        "nav": "incidents",
        "live": LIVE_SECONDS,
        "visitor": visitor,
        "rows": rows,
        "ready": ready(on),
        "may_act": _may_act(visitor),
        "since": since,
        "told": told,
        "messages": [(at, words_of(topic, facts)) for at, topic, facts in told.newest] if told else [],
    }
