"""What has no team: the queue, and the buttons that claim."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from billing.tables.unassigned_lines import UNASSIGNED, QueueLine
from billing.tables.unassigned_queue import claimable, queue
from common.errors import BadInput, Refused
from common.exports import file_answer
from common.listed import arranged, listed
from common.listing import read_listing
from fleet.actions.claims import UNDONE_WITHIN, Subject, claim, take_back
from fleet.queries.unassigned import LATELY, claim_team, open_claims
from people.roles import Right
from people.visitor import Visitor, signed_in

RECENT = timedelta(days=30)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def unassigned(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """Show what has no team, with age, cost and whose it might be; claim it, or take a claim back."""
    if not visitor.sees_all and not visitor.can_somewhere(Right.CLAIM):
        return render(request, "403.html", status=403)
    if request.method == "POST":
        return _act(request, visitor)
    return _page(request, visitor, request.GET)


def _page(
    request: HttpRequest, visitor: Visitor, params: QueryDict, *, refusal: str = "", status: int = 200
) -> HttpResponseBase:
    asked = read_listing(params, UNASSIGNED)
    rows = queue(visitor)
    if asked.as_file:
        return file_answer(UNASSIGNED, arranged(rows, asked), asked, "unassigned", zone=visitor.house.zone)
    claims = open_claims(visitor.everything, visitor.now - RECENT)
    context: dict[str, Any] = {
        "nav": "unassigned", "visitor": visitor, "table": listed(rows, asked), "refusal": refusal,
        "claimable": claimable(visitor),
        "claims": [
            {"claim": one, "team": visitor.teams[one.team_id].name, "may": visitor.can(Right.CLAIM, one.team_id),
             "is_undo": visitor.now - one.made_at <= UNDONE_WITHIN}
            for one in claims if one.team_id in visitor.teams
        ],
        "done": params.get("done", ""), "days": LATELY.days, "total": _per_currency(rows),
    }  # fmt: skip
    return render(request, "billing/unassigned.html", context, status=status)


def _per_currency(rows: list[QueueLine]) -> dict[str, Any]:
    totals: dict[str, Any] = {}
    for row in rows:
        if row.spent.amount:
            totals[row.spent.currency] = totals.get(row.spent.currency, 0) + row.spent.amount
    return totals


def _act(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    act = request.POST.get("act", "")
    try:
        if act == "claim":
            done = _claim(request.POST, visitor)
        elif act == "take_back":
            done = _take_back(request.POST, visitor)
        else:
            raise BadInput("bad_choice", "act: there is no such act.", hint="There are: claim, take_back.")
    except NotYoursError:
        return render(request, "403.html", status=403)
    except Refused as error:
        return _page(request, visitor, QueryDict(), refusal=f"{error.message} {error.hint}", status=409)
    return HttpResponseRedirect(f"{reverse('unassigned')}?done={done}")


class NotYoursError(Exception):
    """The visitor may not claim for this team."""


def _claim(form: QueryDict, visitor: Visitor) -> str:
    """Claim a thing that the visitor sees in the queue, for a team that they may claim for."""
    team = visitor.team_named(form.get("team", ""))
    if team is None:
        raise Http404
    if not visitor.can(Right.CLAIM, team.id):
        raise NotYoursError
    start = form.get("since", "now")
    if start not in {"now", "beginning"}:
        raise BadInput("bad_choice", f"since: there is no {start!r}.", hint="There are: now, beginning.")
    subject = _subject(form)
    if not visitor.sees_all and not any(
        (row.thing.kind, row.thing.id) == (subject.kind, subject.id) for row in queue(visitor)
    ):
        raise Http404
    claim(
        now=visitor.now, by=visitor.user.email, subject=subject, team_id=team.id, from_beginning=start == "beginning"
    )  # fmt: skip
    return "claimed"


def _subject(form: QueryDict) -> Subject:
    kind, number = form.get("kind", ""), form.get("id", "")
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        raise BadInput("bad_number", f"id: {number[:20]!r} is no number.", hint="Use the buttons of the page.")
    if kind == "instance":
        return Subject("instance", int(number))
    if kind == "job":
        return Subject("job", int(number))
    raise BadInput("bad_choice", f"kind: there is no {kind[:20]!r}.", hint="There are: instance, job.")


def _take_back(form: QueryDict, visitor: Visitor) -> str:
    number = form.get("claim", "")
    team_id = claim_team(int(number)) if number.isascii() and number.isdigit() and len(number) < 19 else None
    if team_id is None or not visitor.everything.covers(team_id):
        raise Http404
    if not visitor.can(Right.CLAIM, team_id):
        raise NotYoursError
    return "undone" if take_back(now=visitor.now, by=visitor.user.email, claim_id=int(number)) else "ended"
