"""Search and the command palette: machines, GPUs, jobs, teams, people, pages, in that order, of visible rows only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_safe

from common.state_words import STATE_WORDS
from config.help import help_page, page_names, where
from config.navigation import address_of, items_for
from fleet.queries.search import Found, find_gpus, find_instances, find_jobs
from people.queries.found import find_people
from people.visitor import Visitor, signed_in

LONGEST = 200
IN_PALETTE, ON_PAGE = 6, 50


@dataclass(frozen=True)
class Hit:
    """Something found. ``group``: what it is, in a word; ``note``: where, whose, in which state."""

    group: str
    icon: str
    text: str
    note: str
    href: str


@require_safe
@signed_in
def search(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Find what ``q`` names. ``part=list``: the options of the palette alone."""
    text = " ".join(request.GET.get("q", "").replace("\x00", "").split())[:LONGEST]
    is_list = request.GET.get("part") == "list"
    limit = IN_PALETTE if is_list else ON_PAGE
    hits = found(text, visitor, limit)
    context: dict[str, Any] = {"visitor": visitor, "q": text, "hits": hits, "limit": limit}
    return render(request, "config/_hits.html" if is_list else "config/search.html", context)


def found(text: str, visitor: Visitor, limit: int) -> list[Hit]:
    """Give what ``text`` finds, at most ``limit`` of each kind; without a text: the pages and saved views there are."""
    pages = _pages(text, visitor, limit if text else ON_PAGE)
    if len(text) < 2:
        return pages
    choice = visitor.everything
    things = [
        *find_instances(text, choice, limit), *find_gpus(text, choice, limit), *find_jobs(text, choice, limit)
    ]  # fmt: skip
    teams = [team for team in visitor.teams.values() if text.casefold() in team.name.casefold()]
    shown = [_of_fleet(one, visitor) for one in things]
    shown += [
        Hit(_("Team"), "teams", team.name, team.cost_center, _address_of_team(team.name)) for team in teams[:limit]
    ]
    if visitor.can("manage_people"):
        shown += [
            Hit(_("Person"), "teams", person.name or person.email, person.email, address_of("people"))
            for person in find_people(text, limit)
        ]
    return [*shown, *pages]


def _of_fleet(one: Found, visitor: Visitor) -> Hit:
    team = visitor.teams.get(one.team_id or 0)
    name = team.name if team else _("Unassigned")
    state = str(STATE_WORDS.get(one.state, ""))
    machine = f"/instances/{quote(one.account or '-', safe='')}/{quote(one.instance, safe='/')}/"
    if one.kind == "instance":
        return Hit(_("Instance"), "machine", one.id, _joined(state, name, one.account), machine)
    if one.kind == "gpu":
        href = machine if one.instance else ""
        return Hit(pgettext("thing", "GPU"), "fleet", one.id, _joined(state, one.model, one.instance), href)
    started = date_format(one.started_at, "DATE_FORMAT") if one.started_at else ""
    return Hit(_("Job"), "jobs", one.id, _joined(name, started), _address_of_job(one))


def _address_of_job(job: Found) -> str:
    base = address_of("jobs")
    if not base:
        return ""
    return f"{base}{quote(job.source or '-', safe='')}/{quote(job.id, safe='/')}/"


def _address_of_team(name: str) -> str:
    base = address_of("teams")
    return f"{base}{quote(name, safe='')}/" if base else f"/?{urlencode({'team': name})}"


def _pages(text: str, visitor: Visitor, limit: int) -> list[Hit]:
    wanted = text.casefold()
    listed = [
        *(Hit(_("Saved view"), "link", name, path, path) for name, path in visitor.house.saved),
        *(Hit(_("Page"), item.icon, str(item.label), "", address_of(item.routes[0])) for item in items_for(visitor)),
    ]
    if wanted:
        listed += [
            Hit(_("Help"), "info", section.title, page.title, where(f"{name}#{section.anchor}"))
            for name in page_names()
            if (page := help_page(name))
            for section in page.sections
            if section.level == 2 or wanted in section.title.casefold()
        ]
    return [hit for hit in listed if wanted in f"{hit.text} {hit.note}".casefold()][:limit]


def _joined(*parts: str) -> str:
    return " · ".join(_known(parts))


def _known(parts: Iterable[str]) -> list[str]:
    return [part for part in parts if part]
