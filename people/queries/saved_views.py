"""Reads of saved views. Names and addresses alone come with every page (`House.saved`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models.functions import Lower

from people.models import SavedView, User


@dataclass(frozen=True)
class View:
    """A saved view of one person."""

    id: int
    name: str
    path: str
    created_at: datetime


def views_of(user: User) -> list[View]:
    """Give a person's views by name."""
    rows = SavedView.objects.filter(user=user).order_by(Lower("name"), "pk")
    return [View(*row) for row in rows.values_list("pk", "name", "path", "created_at")]
