"""The documents of `alerts` and `deliveries` (doors.md), as they stood at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from alerts.models import Alert, Attempt, Delivery, Message
from alerts.models.alert import RESOLVED
from alerts.models.delivery import DeliveryState
from common.pages import Page, Slice
from common.periods import iso
from people.roles import TeamChoice

DELIVERED = (DeliveryState.SENT, DeliveryState.SIMULATED)


def _stamp(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None


def alerts_document(
    *, since: datetime | None = None, until: datetime | None = None, at: datetime | None = None
) -> list[dict[str, Any]]:
    """List the alerts opened in ``[since, until)``, oldest first, as they stood at ``at`` (None: now)."""
    rows = Alert.objects.select_related("team").order_by("opened_at", "pk")
    if since:
        rows = rows.filter(opened_at__gte=since)
    if until:
        rows = rows.filter(opened_at__lt=until)
    told = Q()
    if at:
        rows, told = rows.filter(opened_at__lte=at), Q(messages__created_at__lte=at)
    return [_alert(row, at) for row in rows.annotate(notices=Count("messages", filter=told, distinct=True))]


def alerts_page(asked: Mapping[str, Any], part: Slice, choice: TeamChoice) -> Page:
    """Give a page of alerts of these teams, newest first. ``asked``: kind, state, subject, rule, since, until."""
    rows = of_teams(Alert.objects.select_related("team").order_by("-pk"), "team", choice)
    for name in ("kind", "state", "subject", "rule"):
        if asked.get(name):
            rows = rows.filter(**{name: asked[name]})
    if asked.get("since"):
        rows = rows.filter(opened_at__gte=asked["since"])
    if asked.get("until"):
        rows = rows.filter(opened_at__lt=asked["until"])
    if part.after is not None:
        rows = rows.filter(pk__lt=part.after)
    told = Message.objects.filter(alerts=OuterRef("pk")).order_by().values("alerts").annotate(n=Count("pk"))
    rows = rows.annotate(notices=Coalesce(Subquery(told.values("n")), 0))
    return part.page([(row.pk, _alert(row, None)) for row in rows[: part.limit + 1]])


def deliveries_page(asked: Mapping[str, Any], part: Slice, choice: TeamChoice) -> Page:
    """Give a page of deliveries of messages about these teams, newest first.

    ``asked``: kind, state, channel, subject, since, until (of the message).
    """
    rows = of_teams(Delivery.objects.order_by("-pk"), "message__team", choice)
    columns = {"kind": "message__kind", "state": "state", "channel": "channel__name", "subject": "message__subject"}
    columns |= {"since": "message__created_at__gte", "until": "message__created_at__lt"}
    rows = rows.filter(**{column: asked[name] for name, column in columns.items() if asked.get(name)})
    if part.after is not None:
        rows = rows.filter(pk__lt=part.after)
    return part.page(_deliveries(rows[: part.limit + 1], of_teams(Alert.objects.all(), "team", choice), None))


def of_teams(rows: QuerySet[Any], column: str, choice: TeamChoice) -> QuerySet[Any]:
    """Keep the rows of the chosen teams."""
    chosen = Q() if choice.team_ids is None else Q(**{f"{column}__in": choice.team_ids})
    nobody = Q(**{f"{column}__isnull": True})
    if choice.unassigned:
        return rows.filter(chosen | nobody) if choice.team_ids is not None else rows
    return rows.filter(chosen & ~nobody)


def _alert(row: Any, at: datetime | None) -> dict[str, Any]:
    was_open = bool(at and row.resolved_at and row.resolved_at > at)
    return {
        "id": row.pk,
        "rule": row.rule,
        "kind": row.kind,
        "subject": {"kind": row.subject_kind, "id": row.subject, "account": row.account or None},
        "team": row.team.name if row.team else None,
        "episode": row.episode,
        "state": "open" if was_open else row.state,
        "threshold": row.threshold or None,
        "opened_at": iso(row.opened_at),
        "resolved_at": None if was_open or row.state != RESOLVED else _stamp(row.resolved_at),
        "reopened": row.reopened,
        "notices": row.notices,
    }


def deliveries_document(*, since: datetime | None = None, at: datetime | None = None) -> list[dict[str, Any]]:
    """List the deliveries of messages written since ``since``, oldest first, as they stood at ``at`` (None: now)."""
    rows = Delivery.objects.order_by("message__created_at", "pk")
    if since:
        rows = rows.filter(message__created_at__gte=since)
    if at:
        rows = rows.filter(message__created_at__lte=at)
    return [document for _, document in _deliveries(rows, Alert.objects.all(), at)]


def _deliveries(rows: QuerySet[Any], alerts: QuerySet[Any], at: datetime | None) -> list[tuple[int, dict[str, Any]]]:
    """Give id and document of deliveries as they stood at ``at``, with those of ``alerts`` that they tell of."""
    found = list(rows.values(*_COLUMNS))
    links = Message.alerts.through.objects.filter(message_id__in={row["message_id"] for row in found})
    told: defaultdict[int, list[int]] = defaultdict(list)
    pairs = links.filter(alert__in=alerts) if alerts.query.where else links
    for message, alert in pairs.order_by("alert_id").values_list("message_id", "alert_id"):
        told[message].append(alert)
    tries = Attempt.objects.filter(delivery_id__in=[row["pk"] for row in found])
    if at:
        tries = tries.filter(at__lte=at)
    attempts: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for delivery, *facts in tries.order_by("at", "pk").values_list("delivery_id", *_ATTEMPT):
        attempts[delivery].append(_attempt(*facts))
    return [(row["pk"], _delivery(row, told[row["message_id"]], attempts[row["pk"]], at)) for row in found]


_COLUMNS = (
    "pk", "message_id", "message__key", "message__kind", "message__subject", "channel__name", "to", "state",
    "delivered_at", "doubles", "is_fallback",
)  # fmt: skip
_ATTEMPT = ("at", "outcome", "status", "retry_after", "detail")


def _delivery(
    row: Mapping[str, Any], alerts: list[int], attempts: list[dict[str, Any]], at: datetime | None
) -> dict[str, Any]:
    was_waiting = bool(at and row["delivered_at"] and row["delivered_at"] > at)
    return {
        "message": str(row["message__key"]),
        "kind": row["message__kind"],
        "alerts": alerts,
        "subject": row["message__subject"],
        "channel": row["channel__name"],
        "to": row["to"] or None,
        "state": DeliveryState.WAITING.value if was_waiting else row["state"],
        "delivered_at": None if was_waiting or row["state"] not in DELIVERED else _stamp(row["delivered_at"]),
        "attempts": attempts,
        "doubles": row["doubles"],
        "is_fallback": row["is_fallback"],
    }


def _attempt(at: datetime, outcome: str, status: int | None, retry_after: float | None, detail: str) -> dict[str, Any]:
    return {
        "at": iso(at),
        "outcome": outcome,
        "status": status,
        "retry_after": retry_after,
        "detail": detail or None,
    }
