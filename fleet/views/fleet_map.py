"""The map of the fleet: every machine and GPU with its state now, grouped as one likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from billing.queries.prices_now import PricesNow
from common.errors import BadInput
from common.figures import STATES
from fleet.domain.machine_filter import NONE
from fleet.domain.states import IDLE, State
from fleet.filters import LONGEST, Chosen, address, machine_filters, read_machines
from fleet.queries.fleet_map import MachineCells, fleet_cells
from fleet.queries.health import sources_health
from fleet.queries.machines import machine_choices
from fleet.tables.fleet_map import gaps_of, groups_of, level_of, standings
from people.visitor import Visitor, signed_in

GROUPS = {
    "team": gettext_lazy("Team"),
    "account": gettext_lazy("Account"),
    "region": gettext_lazy("Region"),
    "model": gettext_lazy("GPU model"),
}
USUAL = "account"
RENEWED = 60  # seconds


@require_safe
@signed_in
def fleet_map(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show what every GPU does now, and what is not seen."""
    group = request.GET.get("group", "") or USUAL
    if group not in GROUPS:
        raise BadInput("bad_filter", f"group: there is no {group[:40]!r}.", hint=f"There are: {', '.join(GROUPS)}.")
    words = _words(request.GET.get("q", ""))
    chosen = read_machines(request.GET, visitor, words)
    machines = fleet_cells(chosen.teams, chosen.asked)
    prices = PricesNow().prices([one.id for one in machines if one.is_billed], visitor.now)
    key_of, name_of = _naming(group, visitor)
    level, stands = level_of(machines), standings(machines, prices)
    context: dict[str, Any] = {
        "visitor": visitor,
        "live": RENEWED,
        "chosen": chosen,
        "is_narrowed": chosen.is_narrowed,
        "filters": _bar(request, chosen, group, visitor),
        "keep": [("open", one) for one in request.GET.getlist("open")],
        "sources": sources_health(visitor.now),
        "level": level,
        "machines": len(machines),
        "gpus": sum(len(one.cells) for one in machines),
        "standings": [(one, _rows(chosen, state=one.state)) for one in stands],
        "idle": sum(one.gpus for one in stands if one.state in IDLE),
        "unseen": sum(one.gpus for one in stands if one.state == State.UNKNOWN),
        "gaps": gaps_of(machines),
        "not_seen": _rows(chosen, seen="no"),
        "missing": _rows(chosen, seen="missing"),
        "rows": _rows(chosen),
        "csv": _rows(chosen, **{"as": "csv"}),
        "states": [*STATES[:1], *STATES[2:]],
    }
    opened = request.GET.getlist("open")
    context["groups"] = [
        (one, _group_rows(chosen, group, one.key, visitor), _switch(request, opened, one.key))
        for one in groups_of(machines, prices, key_of, name_of, opened)
    ]
    return render(request, "fleet/map.html", context)


def _words(text: str) -> tuple[str, ...]:
    if len(text) > LONGEST or "\x00" in text:
        raise BadInput("bad_filter", "q: this is too long to search for.", hint="Search for a few words.")
    return tuple(text.casefold().split())


def _naming(group: str, visitor: Visitor) -> tuple[Callable[[MachineCells], str], Callable[[str], str]]:
    """Give how a machine's group is called in addresses, and how pages call it."""
    nothing = {
        "team": _("Unassigned"),
        "account": _("no account"),
        "region": _("region not known"),
        "model": _("model not known"),
    }[group]

    def key_of(one: MachineCells) -> str:
        if group == "team":
            team = visitor.teams.get(one.team_id or 0)
            return team.name if team else NONE
        return str(getattr(one, group) or NONE)

    return key_of, lambda key: nothing if key == NONE else key


def _bar(request: HttpRequest, chosen: Chosen, group: str, visitor: Visitor) -> list[dict[str, Any]]:
    options = [("" if key == USUAL else key, str(GROUPS[key])) for key in GROUPS]
    grouped = {"name": "group", "label": _("Group by"), "value": "" if group == USUAL else group, "options": options}
    text = {"name": "q", "label": _("Find"), "value": request.GET.get("q", ""), "kind": "search"}
    return [grouped, *machine_filters(chosen, machine_choices(visitor.everything), visitor), text]


def _rows(chosen: Chosen, **narrower: str) -> str:
    """Give the address of the table with the same filters, and narrower ones."""
    asked = {name: value for name, value in {**chosen.values, **narrower}.items() if value}
    if chosen.asked.words:
        asked["q"] = " ".join(chosen.asked.words)
    return f"/instances/?{urlencode(asked)}" if asked else "/instances/"


def _group_rows(chosen: Chosen, group: str, key: str, visitor: Visitor) -> str:
    """Give the rows of a group; a group of a team holds the machines of that team alone."""
    team = visitor.team_named(key) if group == "team" else None
    has_below = team is not None and len(visitor.team_and_below(team)) > 1
    return _rows(chosen, **{group: key}, **({"exact": "1"} if has_below else {}))


def _switch(request: HttpRequest, opened: list[str], key: str) -> str:
    """Give the address that opens or closes a group."""
    wanted = [one for one in opened if one != key] if key in opened else [*opened, key]
    return address(request.GET, open=wanted)
