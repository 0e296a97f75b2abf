"""The saved views of who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from common.pages import Page, Slice
from common.periods import iso
from people.api.documented import listed
from people.api.routes import ListRoute, whole_page
from people.api.shapes import moment, text, whole
from people.queries.saved_views import views_of


class SavedViewShape(serializers.Serializer[Any]):
    """A saved view."""

    id = whole()
    name = text()
    path = text("the address of the page with its filters")
    created_at = moment()


@listed(SavedViewShape, "Your own saved views, by name.")
class SavedViews(ListRoute):
    """Saved views."""

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of them."""
        rows = [
            {"id": one.id, "name": one.name, "path": one.path, "created_at": iso(one.created_at)}
            for one in views_of(self.visitor.user)
        ]
        return whole_page(rows, part)
