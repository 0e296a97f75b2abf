"""The audit trail: who did what to which thing, and why; as a page and as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from common.cells import Kind
from common.exports import file_answer
from common.listed import paged
from common.listing import Column, TableSpec, read_listing
from common.periods import day_start
from people.queries.audit import audit_events, audit_words
from people.roles import Right
from people.sentences.audit import sentence
from people.tables import details_text
from people.visitor import Visitor, signed_in

EVENTS = TableSpec(
    "events",
    (
        Column("at", _("When"), Kind.MOMENT, sortable=False),
        Column("sentence", _("What happened"), note="reason", sortable=False),
        Column("by", _("Who"), sortable=False, in_page=False),
        Column("action", _("What"), Kind.CODE, sortable=False, in_page=False),
        Column("subject_kind", _("On what kind"), Kind.CODE, sortable=False, in_page=False),
        Column("subject", _("On what"), sortable=False, in_page=False),
        Column("reason", _("Why"), sortable=False, in_page=False),
        Column("details", _("Details"), sortable=False, in_page=False),
        Column("more", _("Details"), template="people/_details.html", sortable=False, in_file=False),
    ),
)
FILTERS = ("by", "action", "subject_kind", "subject", "from", "to")


@require_safe
@signed_in
def audit(request: HttpRequest, visitor: Visitor) -> HttpResponse | StreamingHttpResponse:
    """List the events that fit the filters of the URL, newest first."""
    if not visitor.can(Right.READ_AUDIT):
        return render(request, "403.html", status=403)
    wanted = read_listing(request.GET, EVENTS)
    given = {name: request.GET.get(name, "").strip() for name in FILTERS} | {"q": wanted.q}
    events = audit_events(asked(given, visitor))
    if wanted.as_file:
        return file_answer(EVENTS, _for_file(events), wanted, "fleetledger-audit", zone=visitor.house.zone)
    cut = events[wanted.offset : wanted.offset + EVENTS.page_size]
    rows = [{**event, "sentence": sentence(event), "more": details_text(event["details"])} for event in cut]
    actions, kinds, people = audit_words()
    context: dict[str, Any] = {
        "nav": "audit", "visitor": visitor, "given": given, "table": paged(rows, wanted, count=events.count()),
        "actions": actions, "kinds": kinds, "people": people,
    }  # fmt: skip
    return render(request, "people/audit.html", context)


def _for_file(events: QuerySet[Any, Any]) -> Iterator[dict[str, Any]]:
    for event in events.iterator(chunk_size=2000):
        yield {**event, "sentence": sentence(event), "details": details_text(event["details"])}


def asked(given: Mapping[str, str], visitor: Visitor) -> dict[str, Any]:
    """Read the filters; days are those of the organisation's zone, the last one whole. What is no day is left out."""
    since, until = _day(given["from"], visitor), _day(given["to"], visitor, after=1)
    return {**given, "since": since, "until": until}


def _day(text: str, visitor: Visitor, after: int = 0) -> datetime | None:
    try:
        return day_start(date.fromisoformat(text) + timedelta(days=after), visitor.house.zone) if text else None
    except (ValueError, OverflowError):
        return None
