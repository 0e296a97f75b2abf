"""The organisation: one row."""

from __future__ import annotations

from django.db import models


class Organization(models.Model):
    """Name, currency, zone and hours of the one organisation (pk 1).

    Its idle rule has start dates and so its own table, `fleet.IdleRuleVersion`.
    """

    name = models.CharField(max_length=200, default="My organisation")
    currency = models.CharField(max_length=3, default="USD")
    time_zone = models.CharField(max_length=64, default="UTC")
    working_hours = models.JSONField(default=dict)
    holidays = models.JSONField(default=list)
    hours_per_month = models.DecimalField(max_digits=8, decimal_places=2, default=730)
    declared = models.JSONField(null=True, blank=True)

    class Meta:
        """There is one organisation."""

        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="one_organization")]

    def __str__(self) -> str:
        return self.name
