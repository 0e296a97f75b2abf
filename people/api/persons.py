"""People and their roles, for who may manage them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from common.pages import Page, Slice
from common.periods import iso
from people.api.documented import listed
from people.api.errors import NotPermitted
from people.api.routes import ListRoute, whole_page
from people.api.shapes import flag, moment, text
from people.queries.persons import PersonRow, people_of
from people.roles import Right


class GrantShape(serializers.Serializer[Any]):
    """A role of a person."""

    role = text()
    team = text("null: everywhere", null=True)


class PersonShape(serializers.Serializer[Any]):
    """A person."""

    email = text()
    name = text()
    is_active = flag()
    can_sign_in = flag("false: invited, or told by messages only")
    last_login = moment(null=True)
    is_managed = flag("fleet.yaml names them")
    roles = GrantShape(many=True)


@listed(PersonShape, "People with their roles; for admins of the whole organisation.")
class People(ListRoute):
    """People."""

    for_everything = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in who may manage them."""
        super().initial(request, *args, **kwargs)
        if not self.visitor.can(Right.MANAGE_PEOPLE):
            raise NotPermitted("People are for admins.")

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of all people."""
        return whole_page([_document(one) for one in people_of(None)], part)


def _document(one: PersonRow) -> dict[str, Any]:
    return {
        "email": one.email,
        "name": one.name,
        "is_active": one.is_active,
        "can_sign_in": one.can_sign_in,
        "last_login": iso(one.last_login) if one.last_login else None,
        "is_managed": one.is_managed,
        "roles": [{"role": grant.role, "team": grant.team or None} for grant in one.grants],
    }
