"""Write the audit trail."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from people.models import AuditEvent

SYSTEM = "system"


def record(
    *, now: datetime, by: str, action: str, subject_kind: str, subject: str, reason: str = "", **details: Any
) -> AuditEvent:
    """Append one event, in the caller's transaction. ``details`` must be JSON values and hold no secret."""
    return AuditEvent.objects.create(
        at=now, by=by, action=action, subject_kind=subject_kind, subject=subject, reason=reason, details=details
    )
