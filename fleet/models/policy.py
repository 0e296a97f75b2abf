"""Policies and exemptions as declared, and the organisation's idle rule with its start dates."""

from __future__ import annotations

from django.db import models


class IdleRuleVersion(models.Model):
    """The organisation's idle rule from ``valid_from`` on: GPU-hours, waste and reports use this one only."""

    valid_from = models.DateTimeField(unique=True)
    spec = models.JSONField()  # threshold_pct, window, empty_window, min_coverage_pct, warm_up as declared

    def __str__(self) -> str:
        return f"from {self.valid_from}"


class Policy(models.Model):
    """A policy as declared; the first in ``position`` order that matches an instance is its policy."""

    name = models.CharField(max_length=120, unique=True)
    position = models.IntegerField()
    version = models.IntegerField(default=1)
    spec = models.JSONField()
    declared = models.JSONField(null=True, blank=True)

    class Meta:
        """Read in file order."""

        ordering = ["position"]

    def __str__(self) -> str:
        return self.name


class Exemption(models.Model):
    """An instance that policies leave alone until a time. ``instance_ref`` is `id` or `account/id`."""

    instance_ref = models.CharField(max_length=420)
    reason = models.TextField()
    owner = models.CharField(max_length=254, blank=True)
    approver = models.CharField(max_length=254, blank=True)
    until = models.DateTimeField(null=True, blank=True)
    declared = models.JSONField(null=True, blank=True)

    def __str__(self) -> str:
        return self.instance_ref
