"""Ownership rules: ordered, with start dates; what matches nothing is Unassigned, and shown."""

from __future__ import annotations

from django.db import models


class OwnershipRule(models.Model):
    """One rule of one rule set. The set in force at a time is that with the newest ``valid_from`` at or before it.

    ``spec``: {team, match} or {team_from, strip_prefix}; {} assigns nothing. ``declared_set`` (of the first rule of a
    set): all rules as the file has them, also those that take part at another time.
    """

    valid_from = models.DateTimeField()
    position = models.IntegerField()
    spec = models.JSONField()
    declared_set = models.JSONField(null=True, blank=True)

    class Meta:
        """Ordered within its set."""

        constraints = [models.UniqueConstraint(fields=["valid_from", "position"], name="ownership_rule_once")]
        ordering = ["valid_from", "position"]

    def __str__(self) -> str:
        return str(self.spec)
