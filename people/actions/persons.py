"""Declare people and their roles. Nobody can sign in by being declared: that takes a password of their own, or SSO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from common.declared import Change, Spec, declare_rows, settle_leftovers
from people.models import RoleGrant, Team, User


def declare_people(wanted: Sequence[Spec], *, prune: bool) -> list[Change]:
    """Create and change people; their roles become those of the file where the file names roles."""
    users = {user.email: user for user in User.objects.prefetch_related("grants__team")}
    teams = {team.name.casefold(): team for team in Team.objects.all()}
    asked = {spec["email"]: _with_sorted_roles(spec) for spec in wanted}

    def fill(user: User, spec: Spec) -> None:
        user.name = spec.get("name") or ""
        user.time_zone = spec.get("time_zone") or ""
        user.is_active = True
        if user._state.adding:
            user.set_unusable_password()
            user.save()
        if "roles" in spec:
            _grant(user, spec["roles"], teams)

    def current(user: User) -> Spec:
        form: dict[str, Any] = {"email": user.email, "name": user.name or None, "time_zone": user.time_zone or None}
        if "roles" in asked[user.email]:
            form["roles"] = _roles(user)
        return form if user.is_active else form | {"is_active": False}

    changes = declare_rows(
        "person", users, asked.items(), make=lambda email: User(email=email), fill=fill, current=current
    )
    return [*changes, *settle_leftovers("person", users, asked, prune=prune, remove=_retire)]


def _with_sorted_roles(spec: Spec) -> dict[str, Any]:
    """Give the spec with its roles once each and in one order."""
    form = dict(spec)
    if "roles" in form:
        pairs = {(role["role"], role.get("team")) for role in form["roles"]}
        form["roles"] = [_role(role, team) for role, team in sorted(pairs, key=lambda pair: (pair[0], pair[1] or ""))]
    return form


def _roles(user: User) -> list[dict[str, str]]:
    """Give the roles that a person has now, in the same order."""
    pairs = [(grant.role, grant.team.name if grant.team else None) for grant in user.grants.all()]
    return [_role(role, team) for role, team in sorted(pairs, key=lambda pair: (pair[0], pair[1] or ""))]


def _role(role: str, team: str | None) -> dict[str, str]:
    return {"role": role, "team": team} if team else {"role": role}


def _grant(user: User, roles: Sequence[Spec], teams: dict[str, Team]) -> None:
    """Make a person's grants exactly ``roles``."""
    user.grants.all().delete()
    RoleGrant.objects.bulk_create(
        RoleGrant(user=user, role=role["role"], team=teams[role["team"].casefold()] if role.get("team") else None)
        for role in roles
    )


def _retire(user: User) -> None:
    """Take every role away and bar the door; the row stays, because the audit trail names it."""
    user.grants.all().delete()
    user.is_active = False
    user.declared = None
    user.save()
