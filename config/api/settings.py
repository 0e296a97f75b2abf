"""The settings as a fleet.yaml, for admins."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common.periods import iso
from config.declared.present import as_yaml, present_document
from people.api.documented import documented
from people.api.errors import NotPermitted
from people.api.routes import Route
from people.api.shapes import mapping, moment, one_of, text
from people.queries.persons import last_applied
from people.roles import Right


class AppliedShape(serializers.Serializer[Any]):
    """A file that was applied."""

    file = text()
    at = moment()


class SettingsShape(serializers.Serializer[Any]):
    """The settings as they are now, as values and as a file."""

    applied = one_of(AppliedShape, "the newest; null: no file was ever applied", null=True)
    settings = mapping("the sections of fleet.yaml; secrets by name only")
    fleet_yaml = text("the same as a file, with which `apply` changes nothing")


@documented(SettingsShape, "The settings as a fleet.yaml; for admins.")
class SettingsRoute(Route):
    """Settings."""

    for_everything = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in who may change them."""
        super().initial(request, *args, **kwargs)
        if not self.visitor.can(Right.MANAGE_SETTINGS):
            raise NotPermitted("Settings are for admins.")

    def get(self, request: Request) -> Response:
        """Give them."""
        self.asked(request)
        found, applied = present_document(), last_applied()
        told = {"file": applied[0], "at": iso(applied[1])} if applied else None
        return Response({"applied": told, "settings": found, "fleet_yaml": as_yaml(found)})
