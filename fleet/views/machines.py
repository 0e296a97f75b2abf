"""The table of machines: all that are there now, as a page and as files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.queries.list_sql import Cut
from billing.queries.machine_list import MachineList
from common.exports import file_answer
from common.listed import paged
from common.listing import Asked, read_listing
from common.periods import local_day
from fleet.filters import address, machine_filters, read_machines
from fleet.queries.health import sources_health
from fleet.queries.machines import machine_choices
from fleet.tables.machines import MACHINES, MachineLine, machine_line, machine_lines, machine_totals, spread
from people.visitor import Visitor, signed_in

RENEWED = 60  # seconds


@require_safe
@signed_in
def instances(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """List the machines that the filters leave, with totals over all of them."""
    asked = read_listing(request.GET, MACHINES)
    chosen = read_machines(request.GET, visitor, asked.words)
    today = local_day(visitor.now, visitor.house.zone)
    found = MachineList(chosen.teams, chosen.asked, visitor.now, today.replace(day=1), today)
    names = {pk: team.name for pk, team in visitor.teams.items()}
    if asked.as_file:
        rows = _file_lines(found, asked, names, visitor)
        return file_answer(MACHINES, rows, asked, f"instances-{today:%Y-%m-%d}", zone=visitor.house.zone)
    totals = found.totals()
    cut = Cut(asked.sort, asked.descending, asked.limit, asked.offset)
    lines = list(machine_lines(found.rows(cut), names, visitor.now))
    context: dict[str, Any] = {
        "visitor": visitor,
        "live": RENEWED,
        "chosen": chosen,
        "table": paged(lines, asked, count=totals.count, totals=machine_totals(totals)),
        "totals": totals,
        "filters": machine_filters(chosen, machine_choices(visitor.everything), visitor),
        "keep": [(name, request.GET[name]) for name in ("q", "sort") if request.GET.get(name)],
        "sources": sources_health(visitor.now),
        "today": today,
        "map": f"/fleet/{address(request.GET, sort='', page='')}",
    }
    return render(request, "fleet/machines.html", context)


def _file_lines(found: MachineList, asked: Asked, names: dict[int, str], visitor: Visitor) -> Iterator[MachineLine]:
    for row in found.all_rows(Cut(asked.sort, asked.descending)):
        yield from spread(machine_line(row, names, visitor.now))
