"""What was said since a time, in the whole installation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from alerts.models import Message


@dataclass(frozen=True)
class Told:
    """``count`` messages; of the newest: when, topic, and the facts that a renderer needs."""

    count: int
    newest: Sequence[tuple[datetime, str, Mapping[str, Any]]]


def told_since(since: datetime, *, limit: int) -> Told:
    """Give the messages written since ``since``, newest first. It is for who may see everything."""
    rows = Message.objects.filter(created_at__gte=since).order_by("-created_at", "-pk")
    newest = [
        (row.created_at, row.topic, {**row.facts, "subject": row.subject, "message_kind": row.kind})
        for row in rows[:limit]
    ]
    return Told(len(newest) if len(newest) < limit else rows.count(), newest)
