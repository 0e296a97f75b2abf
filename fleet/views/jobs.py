"""Jobs: those that run now or ran in a period, and the page of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from billing.queries.job_list import JobList
from billing.queries.list_sql import Cut
from common.errors import BadInput
from common.exports import file_answer
from common.listed import paged
from common.listing import Asked, read_listing
from common.state_words import STATE_WORDS
from fleet.domain.job_filter import KINDS, JobFilter
from fleet.domain.machine_filter import NONE, STATES
from fleet.filters import read_team
from fleet.queries.health import sources_health
from fleet.tables.jobs import JOBS, JobLine, job_line, job_lines, job_totals
from people.visitor import Visitor, signed_in

RENEWED = 60  # seconds
WHEN = {
    "": (None, gettext_lazy("Now")),
    "24h": (timedelta(hours=24), gettext_lazy("Last 24 hours")),
    "7d": (timedelta(days=7), gettext_lazy("Last 7 days")),
    "30d": (timedelta(days=30), gettext_lazy("Last 30 days")),
    "365d": (timedelta(days=365), gettext_lazy("Last 365 days")),
}


@require_safe
@signed_in
def jobs(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """List the jobs that run now, or ran in a period, with what they used over their lives."""
    asked = read_listing(request.GET, JOBS)
    values = {name: request.GET.get(name, "").strip() for name in ("when", "team", "state", "kind", "advice", "mine")}
    chosen = _filter(values, asked, visitor)
    found = JobList(read_team(values["team"], visitor), chosen, visitor.now)
    names = {pk: team.name for pk, team in visitor.teams.items()}
    if asked.as_file:
        rows = _file_lines(found, asked, names, visitor.now)
        return file_answer(JOBS, rows, asked, f"jobs-{visitor.now:%Y-%m-%d}", zone=visitor.house.zone)
    totals = found.totals()
    cut = Cut(asked.sort, asked.descending, asked.limit, asked.offset)
    lines = list(job_lines(found.rows(cut), names, visitor.now))
    context: dict[str, Any] = {
        "visitor": visitor,
        "live": RENEWED,
        "table": paged(lines, asked, count=totals.count, totals=job_totals(totals)),
        "totals": totals,
        "hours": {state: value for state, value in totals.hours.items() if value},
        "when": WHEN[values["when"]][1],
        "is_narrowed": any(values.values()) or bool(asked.words),
        "filters": _filters(values, visitor),
        "keep": [(name, request.GET[name]) for name in ("q", "sort") if request.GET.get(name)],
        "sources": sources_health(visitor.now),
    }
    return render(request, "fleet/jobs.html", context)


def _filter(values: Mapping[str, str], asked: Asked, visitor: Visitor) -> JobFilter:
    for name, known in (("when", WHEN), ("state", ("", *STATES)), ("kind", ("", *KINDS))):
        if values[name] not in known:
            hint = f"There are: {', '.join(one for one in known if one)}."
            raise BadInput("bad_filter", f"{name}: there is no {values[name][:40]!r}.", hint=hint)
    back = WHEN[values["when"]][0]
    email = visitor.user.email
    return JobFilter(
        since=visitor.now - back if back else None,
        until=None,
        state=values["state"],
        kind=values["kind"],
        has_advice=bool(values["advice"]),
        owners=(email, email.split("@", maxsplit=1)[0]) if values["mine"] else None,
        words=asked.words,
    )


def _filters(values: Mapping[str, str], visitor: Visitor) -> list[dict[str, Any]]:
    teams = [(team.name, team.name) for team in visitor.teams.values()]
    if visitor.sees_all:
        teams.append((NONE, _("Unassigned")))
    every = [("", _("All"))]
    bars = [
        ("when", _("Ran"), [(key, str(word)) for key, (_back, word) in WHEN.items()]),
        ("team", _("Team"), [*every, *teams]),
        ("state", _("State"), [*every, *((str(name), str(STATE_WORDS[name])) for name in STATES)]),
        ("kind", _("Kind"), [*every, ("slurm", "Slurm"), ("pod", _("Pod"))]),
        ("advice", _("Advice"), [*every, ("1", _("low utilisation"))]),
        ("mine", _("Whose"), [*every, ("1", _("mine"))]),
    ]
    return [{"name": name, "label": label, "options": options, "value": values[name]} for name, label, options in bars]


def _file_lines(found: JobList, asked: Asked, names: dict[int, str], now: datetime) -> Iterator[JobLine]:
    for row in found.all_rows(Cut(asked.sort, asked.descending)):
        yield job_line(row, names, now)
