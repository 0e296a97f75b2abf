"""The audit trail: append-only; the database refuses UPDATE and DELETE."""

from __future__ import annotations

from django.db import models


class AuditEvent(models.Model):
    """Who did what to which thing, and why. ``by`` is an e-mail address or `system`."""

    at = models.DateTimeField(db_index=True)
    by = models.CharField(max_length=254)
    action = models.CharField(max_length=60)
    subject_kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=300)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.at} {self.by} {self.action} {self.subject}"
