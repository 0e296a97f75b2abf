"""Routes of `people`: teams and the audit trail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from common.pages import Page, Slice
from people.api.documented import listed
from people.api.errors import NotPermitted
from people.api.parameters import SINCE, UNTIL, Parameter
from people.api.routes import ListRoute, whole_page
from people.api.shapes import mapping, moment, text, whole
from people.queries import audit_page, roles_everywhere
from people.roles import READS_AUDIT


class TeamShape(serializers.Serializer[Any]):
    """A team."""

    name = text()
    parent = text("the team above it, where that may be seen", null=True)
    cost_center = text(null=True)


class AuditSubjectShape(serializers.Serializer[Any]):
    """What was acted on."""

    kind = text()
    id = text()


class AuditShape(serializers.Serializer[Any]):
    """Who did what to which thing, and why."""

    id = whole()
    at = moment()
    by = text("an e-mail address, `system` or `command line`")
    action = text()
    subject = AuditSubjectShape()
    reason = text()
    details = mapping()


@listed(TeamShape, "The teams whose data you see, by name.")
class Teams(ListRoute):
    """Teams."""

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the visible teams, which are known already."""
        names = self.team_names()
        rows = [
            {"name": one.name, "parent": names.get(one.parent_id or 0), "cost_center": one.cost_center or None}
            for one in self.visitor.teams.values()
        ]
        return whole_page(rows, part)


@listed(AuditShape, "The audit trail, newest first; for admins and finance of the whole organisation.")
class Audit(ListRoute):
    """The audit trail."""

    for_everything = True
    own_parameters = (
        Parameter("action", "only this action"),
        Parameter("subject_kind", "only on subjects of this kind"),
        Parameter("subject", "only on the subject of this name"),
        Parameter("by", "only what this person, or `system`, did"),
        SINCE,
        UNTIL,
    )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in whose role reads it."""
        super().initial(request, *args, **kwargs)
        if not roles_everywhere(self.visitor.user) & READS_AUDIT:
            raise NotPermitted("The audit trail is for admins and finance.")

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        return audit_page(asked, part)
