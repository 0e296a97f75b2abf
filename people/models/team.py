"""Teams and their sub-teams."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower


class Team(models.Model):
    """A team; its name is unique in any case. ``parent`` gives sub-teams."""

    name = models.CharField(max_length=120)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    cost_center = models.CharField(max_length=120, blank=True)
    declared = models.JSONField(null=True, blank=True)
    from_telemetry = models.BooleanField(default=False)  # made from a namespace, no fleet.yaml yet

    class Meta:
        """Names are unique, in any case."""

        constraints = [models.UniqueConstraint(Lower("name"), name="team_name_once")]

    def __str__(self) -> str:
        return self.name
