"""What the person who acts may do, read in the transaction that acts: a page may have been shown before a change."""

from __future__ import annotations

from dataclasses import dataclass

from common.database import take_lock
from common.errors import Refused
from people.models import RoleGrant, Team, User
from people.models.user import Role
from people.roles import Grant, Right, has_right, may_grant

GRANTS_LOCK = "people.grants"


@dataclass(frozen=True)
class Authority:
    """The rights of ``user`` as they are now."""

    user: User
    grants: tuple[Grant, ...]
    parents: dict[int, int | None]

    def demand(self, right: Right, team_id: int | None = None) -> None:
        """Raise Refused (not_permitted) without ``right`` for the team (None: everywhere)."""
        if not self.user.is_active or not has_right(right, self.grants, self.parents, team_id):
            raise not_permitted()

    def demand_grant(self, role: str, team_id: int | None) -> None:
        """Raise Refused (not_permitted) when this person may not give or take ``role`` for the team."""
        if not self.user.is_active or not may_grant(self.grants, role, team_id, self.parents):
            raise not_permitted()


def not_permitted() -> Refused:
    """Say that the role of who acts does not cover the act."""
    return Refused("not_permitted", "Your role does not cover this.", hint="Ask an admin. Nothing was changed.")


def authority_of(user: User) -> Authority:
    """Read the rights of ``user``; acts on roles wait for each other until the transaction ends."""
    take_lock(GRANTS_LOCK)
    fresh = User.objects.get(pk=user.pk)
    grants = tuple(Grant(*row) for row in RoleGrant.objects.filter(user=user).values_list("role", "team_id"))
    return Authority(fresh, grants, dict(Team.objects.values_list("pk", "parent_id")))


def keep_an_admin() -> None:
    """Raise Refused (last_admin) unless somebody who can sign in is an admin of everything."""
    admins = RoleGrant.objects.filter(role=Role.ADMIN, team=None, user__is_active=True).select_related("user")
    if not any(grant.user.has_usable_password() for grant in admins):
        raise Refused(
            "last_admin", "This is the last admin who can sign in.", hint="Make somebody else an admin first."
        )
