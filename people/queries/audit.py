"""The audit trail as a page shows it: filtered, newest first, counted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from people.models import AuditEvent

SEARCHED = ("by", "action", "subject", "reason")


def audit_events(asked: Mapping[str, Any]) -> QuerySet[AuditEvent, Any]:
    """Give the events, newest first. ``asked``: action, subject_kind, by, q (part of any text), since, until."""
    rows = AuditEvent.objects.all()
    for name in ("action", "subject_kind", "by", "subject"):
        if asked.get(name):
            rows = rows.filter(**{name: asked[name]})
    since: datetime | None = asked.get("since")
    until: datetime | None = asked.get("until")
    rows = rows.filter(at__gte=since) if since else rows
    rows = rows.filter(at__lt=until) if until else rows
    text = str(asked.get("q") or "").strip()
    if text:
        rows = rows.filter(Q(*((f"{name}__icontains", text) for name in SEARCHED), _connector=Q.OR))
    return rows.order_by("-pk").values("id", "at", "by", "action", "subject_kind", "subject", "reason", "details")


def audit_words() -> tuple[list[str], list[str], list[str]]:
    """Give every action, kind of subject and person that stands in the trail, for the filters."""
    columns = ("action", "subject_kind", "by")
    rows = AuditEvent.objects.values_list(*columns).distinct()[:5000]
    found: list[set[str]] = [set(), set(), set()]
    for row in rows:
        for values, value in zip(found, row, strict=True):
            values.add(value)
    return sorted(found[0]), sorted(found[1]), sorted(found[2])
