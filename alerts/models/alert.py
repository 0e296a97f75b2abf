"""One alert per (rule, subject, episode)."""

from __future__ import annotations

from django.db import models

OPEN = "open"
RESOLVED = "resolved"


class Alert(models.Model):
    """An alert's life. ``rule`` is the finding kind or a policy's name with it; ``episode`` names the occurrence."""

    rule = models.CharField(max_length=200)
    kind = models.CharField(max_length=30)
    subject_kind = models.CharField(max_length=10)
    subject = models.CharField(max_length=420)  # what people read: instance id, source name
    account = models.CharField(max_length=120, blank=True)
    team = models.ForeignKey("people.Team", null=True, on_delete=models.SET_NULL, related_name="+")
    owner = models.CharField(max_length=254, blank=True)
    episode = models.CharField(max_length=60)
    threshold = models.CharField(max_length=60, blank=True)
    state = models.CharField(max_length=14, default=OPEN)  # open acknowledged snoozed resolved
    opened_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)
    reopened = models.IntegerField(default=0)
    facts = models.JSONField(default=dict)  # what the message says; sentences are rendered from it, never stored

    class Meta:
        """Once per episode, and one open at a time."""

        constraints = [
            models.UniqueConstraint(
                fields=["rule", "subject_kind", "subject", "account", "episode"], name="alert_once"
            ),
            models.UniqueConstraint(
                fields=["rule", "subject_kind", "subject", "account"],
                condition=~models.Q(state=RESOLVED),
                name="one_open_alert",
            ),
        ]
        indexes = [models.Index(fields=["opened_at"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
