"""People, their roles and invitations, for who may give them; and what each role may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from common.clock import real_now
from common.pages import Page, Slice
from common.periods import iso
from people.api.documented import listed
from people.api.errors import NotPermitted
from people.api.routes import ListRoute, whole_page
from people.api.shapes import flag, moment, several, text, whole
from people.queries.persons import PersonRow, open_invitations, people_of
from people.roles import ROLE_ORDER, RULES, Right, scope_of


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


class InvitationShape(serializers.Serializer[Any]):
    """An invitation that nobody has accepted yet."""

    id = whole()
    email = text()
    role = text("null: fleet.yaml says which", null=True)
    team = text("null: everywhere", null=True)
    sent_at = moment()
    expires_at = moment()
    is_over = flag("it has run out; it can be sent again")
    invited_by = text()


class RightShape(serializers.Serializer[Any]):
    """Something that a person may see or do."""

    right = text()
    about = text()
    roles = several(text(), "the roles that have it, from the least to the most")
    whole_only = flag("only where the role is given everywhere, not for a team")


class ForInviters(ListRoute):
    """For who may invite: an admin sees everybody, a team lead those of their teams."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in whom the page lets in."""
        super().initial(request, *args, **kwargs)
        if not self.visitor.can_somewhere(Right.INVITE):
            raise NotPermitted("People are for admins and team leads.")

    def scope(self) -> frozenset[int] | None:
        """Give the teams whose people may be shown, within the team of the token; None: everybody."""
        visitor = self.visitor
        if visitor.can(Right.MANAGE_PEOPLE):
            return visitor.visible
        scope = scope_of(Right.INVITE, visitor.house.granted, visitor.parents)
        return scope if visitor.visible is None or scope is None else scope & visitor.visible


@listed(PersonShape, "People with their roles: all of them for admins, those of their teams for team leads.")
class People(ForInviters):
    """People."""

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of them."""
        return whole_page([_document(one) for one in people_of(self.scope())], part)


@listed(InvitationShape, "Open invitations, newest first: all of them for admins, those to their teams for team leads.")
class Invitations(ForInviters):
    """Invitations."""

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of them."""
        rows = [
            {
                "id": one.id,
                "email": one.email,
                "role": one.role or None,
                "team": one.team or None,
                "sent_at": iso(one.sent_at),
                "expires_at": iso(one.expires_at),
                "is_over": one.expires_at <= real_now(),
                "invited_by": one.created_by,
            }
            for one in open_invitations(self.scope())
        ]
        return whole_page(rows, part)


@listed(RightShape, "What each role may see and do.")
class Rights(ListRoute):
    """The table of roles."""

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the rules."""
        rows = [
            {
                "right": rule.right.value,
                "about": str(rule.about),
                "roles": [role for role in ROLE_ORDER if role in rule.roles],
                "whole_only": rule.whole_only,
            }
            for rule in RULES
        ]
        return whole_page(rows, part)


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
