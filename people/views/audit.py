"""The audit trail: who did what to which thing, and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from common.periods import day_start
from people.queries.audit import audit_events, audit_words
from people.roles import Right
from people.sentences.audit import sentence
from people.visitor import Visitor, signed_in

ON_PAGE = 50


@require_safe
@signed_in
def audit(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """List the events that fit the filters of the URL, newest first."""
    if not visitor.can(Right.READ_AUDIT):
        return render(request, "403.html", status=403)
    given = {name: request.GET.get(name, "").strip() for name in ("by", "action", "subject_kind", "q", "from", "to")}
    page = Paginator(audit_events(asked(given, visitor)), ON_PAGE).get_page(request.GET.get("page"))
    rows = [{**event, "sentence": sentence(event)} for event in page.object_list]
    actions, kinds, people = audit_words()
    context: dict[str, Any] = {
        "nav": "audit", "visitor": visitor, "given": given, "page": page, "rows": rows, "actions": actions,
        "kinds": kinds, "people": people,
    }  # fmt: skip
    return render(request, "people/audit.html", context)


def asked(given: Mapping[str, str], visitor: Visitor) -> dict[str, Any]:
    """Read the filters; days are those of the organisation's zone, the last one whole. What is no day is left out."""
    since, until = _day(given["from"], visitor), _day(given["to"], visitor, after=1)
    return {**given, "since": since, "until": until}


def _day(text: str, visitor: Visitor, after: int = 0) -> datetime | None:
    try:
        return day_start(date.fromisoformat(text) + timedelta(days=after), visitor.house.zone) if text else None
    except (ValueError, OverflowError):
        return None
