"""The page of the idle queue: machines by what happens next to them, and its files."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from billing.filters import UNASSIGNED, read_team
from billing.queries.idle_queue import Entry, Group, idle_queue, sum_of
from billing.queries.prices_now import PricesNow
from billing.tables.queue import QUEUE, TITLES, QueueRow, explained, queue_page, queue_rows
from common.errors import BadInput
from common.exports import file_answer
from common.listed import arranged, totals_of
from common.listing import read_listing
from fleet.queries.health import sources_health
from fleet.queries.queue import QueueAsked, evidence_of, queue_choices
from people.visitor import Visitor, signed_in

LIVE_SECONDS = 60
ME = "me"


@require_safe
@signed_in
def idle_list(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """List the machines that are idle, those that will be, those that can't be seen and those left alone."""
    chosen = {name: request.GET.get(name, "").strip() for name in ("team", "account", "model", "owner", "group")}
    try:
        asked = read_listing(request.GET, QUEUE)
        _check(chosen)
    except BadInput as error:
        return render(request, "400.html", {"hint": f"{error.message} {error.hint}"}, status=400)
    owner = visitor.user.email if chosen["owner"] == ME else ""
    which = QueueAsked(read_team(chosen["team"], visitor), chosen["account"], chosen["model"], owner)
    entries = idle_queue(which, PricesNow(), visitor.now)
    rows = queue_rows(entries, visitor.teams, visitor.now)
    if asked.as_file:
        wanted = [row for row in arranged(rows, asked) if chosen["group"] in ("", row.entry.group)]
        wanted.sort(key=lambda row: list(Group).index(row.entry.group))
        explained(wanted, evidence_of([row.id for row in wanted]), visitor)
        return file_answer(QUEUE, wanted, asked, f"idle-{visitor.now:%Y-%m-%d}", zone=visitor.house.zone)
    page = queue_page(rows, asked, chosen["group"])
    explained(page.shown, evidence_of([row.id for row in page.shown]), visitor)
    context: dict[str, Any] = {"nav": "idle", "visitor": visitor, "live": LIVE_SECONDS, "page": page, "chosen": chosen}
    context |= {"filters": _filters(chosen, visitor), "sources": sources_health(visitor.now)} | _totals(entries, rows)
    context["keep"] = [("sort", request.GET["sort"])] if request.GET.get("sort") else []
    return render(request, "billing/idle.html", context)


def _check(chosen: dict[str, str]) -> None:
    """Refuse what is no filter. Raises BadInput (bad_choice)."""
    if chosen["owner"] not in ("", ME):
        raise BadInput("bad_choice", f"owner: {chosen['owner'][:40]!r} is no choice.", hint="There is: me.")
    if chosen["group"] not in ("", *Group):
        hint = f"There are: {', '.join(Group)}."
        raise BadInput("bad_choice", f"group: {chosen['group'][:40]!r} is no choice.", hint=hint)
    if any("\x00" in value for value in chosen.values()):
        raise BadInput("bad_choice", "A filter holds a sign that no name has.", hint="Choose from the lists.")


def _totals(entries: list[Entry], rows: list[QueueRow]) -> dict[str, Any]:
    """Give the sums of the head: what is idle adds up to the overview's, exempt machines included."""
    of = {group: [one for one in entries if one.group is group] for group in Group}
    idle = of[Group.IDLE] + of[Group.EXEMPT]
    coming = [one.machine.idle_at for one in of[Group.NEXT] if one.machine.idle_at]
    by_state: dict[str, int] = {}
    for one in idle:
        by_state[one.machine.state] = by_state.get(one.machine.state, 0) + (one.machine.gpu_count or 0)
    sums = {group.value: sum_of(of[group]) for group in Group}
    return {"idle": sum_of(idle), "sums": sums, "by_state": by_state, "first_next": min(coming, default=None)} | {
        "so_far": totals_of(rows, QUEUE)["so_far"].money
    }


def _filters(chosen: dict[str, str], visitor: Visitor) -> list[dict[str, Any]]:
    accounts, models = queue_choices(visitor.everything)
    teams = [("", _("All")), *((one.name, one.name) for one in visitor.teams.values())]
    teams += [(UNASSIGNED, _("Unassigned"))] if visitor.sees_all else []
    lists = {
        "team": (_("Team"), teams),
        "account": (_("Account"), [("", _("All")), *((one, one) for one in accounts)]),
        "model": (_("GPU model"), [("", _("All")), *((one, one) for one in models)]),
        "owner": (_("Owner"), [("", _("Anyone")), (ME, _("Me"))]),
        "group": (_("What is next"), [("", _("All")), *((one.value, TITLES[one]) for one in Group)]),
    }
    return [
        {"name": name, "label": label, "options": options, "value": chosen[name]}
        for name, (label, options) in lists.items()
    ]
