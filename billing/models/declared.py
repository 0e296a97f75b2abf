"""What fleet.yaml declares about money and is kept as declared: commitments, budgets, import mappings."""

from __future__ import annotations

from django.db import models


class Declared(models.Model):
    """A named thing with its declared form."""

    name = models.CharField(max_length=120, unique=True)
    spec = models.JSONField()
    declared = models.JSONField(null=True, blank=True)

    class Meta:
        """Shared columns only."""

        abstract = True

    def __str__(self) -> str:
        return self.name


class Commitment(Declared):
    """Capacity that is paid for whether used or not."""


class Budget(Declared):
    """A limit for a period."""


class Mapping(Declared):
    """How the columns of a file map to charges or usage."""
