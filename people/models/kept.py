"""Sections of `fleet.yaml` that are accepted and kept for what comes later."""

from __future__ import annotations

from django.db import models


class KeptSection(models.Model):
    """One reserved section as it was written."""

    name = models.CharField(max_length=40, unique=True)
    content = models.JSONField(null=True)
    declared = models.JSONField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name
