"""Views that people saved: an address of a page with its filters, under a name."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower


class SavedView(models.Model):
    """An address of ours for one person. It gives no right: who opens it sees what they may see."""

    user = models.ForeignKey("people.User", on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=80)
    path = models.CharField(max_length=2000)  # from the first slash on, with filters: /jobs/?team=nlp
    created_at = models.DateTimeField()

    class Meta:
        """Names are unique per person, in any case."""

        constraints = [models.UniqueConstraint("user", Lower("name"), name="saved_view_once")]

    def __str__(self) -> str:
        return self.name
