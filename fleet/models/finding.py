"""What deserves an eye: one per (kind, subject, episode)."""

from __future__ import annotations

from django.db import models

from fleet.models.verdict import Subject


class Finding(models.Model):
    """A finding of ``kind`` (codes.md) about a subject.

    ``episode`` is the `since` that it opened with, ``since`` the one of now.
    ``subject_id`` is a row id (gpu, job, instance, source, target); ``subject_name`` is what people read.
    """

    kind = models.CharField(max_length=30)
    subject_kind = models.CharField(max_length=10, choices=Subject.choices)
    subject_id = models.BigIntegerField()
    subject_name = models.CharField(max_length=420)
    instance = models.ForeignKey("fleet.Instance", null=True, on_delete=models.CASCADE, related_name="findings")
    team = models.ForeignKey("people.Team", null=True, on_delete=models.SET_NULL, related_name="+")
    episode = models.DateTimeField()
    since = models.DateTimeField()
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    closed_because = models.CharField(max_length=20, blank=True)  # busy, restarted, stopped, over
    reopened = models.IntegerField(default=0)
    evidence = models.JSONField(default=dict)

    class Meta:
        """Once per episode; one open at a time."""

        constraints = [
            models.UniqueConstraint(fields=["kind", "subject_kind", "subject_id", "episode"], name="finding_once"),
            models.UniqueConstraint(
                fields=["kind", "subject_kind", "subject_id"],
                condition=models.Q(closed_at__isnull=True),
                name="one_open_finding",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_name}"
