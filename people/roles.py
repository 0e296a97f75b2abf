"""What a role may see and do: the one place that says so, printed on the page and in docs, asked by every check.

A grant for a team covers that team and its sub-teams. A grant without a team covers everything, Unassigned too. Without
any grant a person sees nothing, which is not an error: somebody has to say first which team they belong to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


def with_sub_teams(roots: Iterable[int], parents: Mapping[int, int | None]) -> frozenset[int]:
    """Give ``roots`` and all teams below them. ``parents``: team id -> id of the team above it, or None."""
    covered = {team for team in roots if team in parents}
    growing = True
    while growing:
        below = {team for team, parent in parents.items() if parent in covered} - covered
        covered |= below
        growing = bool(below)
    return frozenset(covered)


def visible_teams(granted: Iterable[int | None], parents: Mapping[int, int | None]) -> frozenset[int] | None:
    """Give the ids of the teams that these grants show; None means all of them and Unassigned.

    ``granted``: the team of each grant, None for a grant without a team.
    """
    teams = list(granted)
    if None in teams:
        return None
    return with_sub_teams((team for team in teams if team is not None), parents)


@dataclass(frozen=True)
class TeamChoice:
    """Which rows a page may count: ``team_ids`` None for every team; ``unassigned``: rows without a team too."""

    team_ids: frozenset[int] | None
    unassigned: bool

    def condition(self, column: str) -> tuple[str, list[Any]]:
        """Give the SQL condition on a team column, with its parameters."""
        if self.team_ids is None:
            return ("TRUE" if self.unassigned else f"{column} IS NOT NULL"), []
        chosen = f"{column} = ANY(%s)"
        return (f"({chosen} OR {column} IS NULL)" if self.unassigned else chosen), [sorted(self.team_ids)]

    def covers(self, team_id: int | None) -> bool:
        """Say whether a thing of this team (None: without a team) may be shown."""
        if team_id is None:
            return self.unassigned
        return self.team_ids is None or team_id in self.team_ids


class Right(StrEnum):
    """Something that a person may see or do."""

    SEE = "see"
    USE_TOKENS = "use_tokens"
    CLAIM = "claim"
    SET_PRICES = "set_prices"
    INVITE = "invite"
    READ_AUDIT = "read_audit"
    MANAGE_PEOPLE = "manage_people"
    MANAGE_TEAMS = "manage_teams"
    MANAGE_SETTINGS = "manage_settings"


@dataclass(frozen=True)
class Rule:
    """Who has a right: ``roles``. With ``whole_only`` it comes from a grant without a team only."""

    right: Right
    about: str | Promise
    roles: frozenset[str]
    whole_only: bool = False


ROLE_ORDER = ("viewer", "engineer", "team_lead", "finance", "admin")
ROLE_WORDS = {
    "viewer": _("Viewer"),
    "engineer": _("Engineer"),
    "team_lead": _("Team lead"),
    "finance": _("Finance"),
    "admin": _("Admin"),
}
EVERYBODY = frozenset(ROLE_ORDER)

RULES = (
    Rule(Right.SEE, _("See machines, jobs, findings, spend and utilisation"), EVERYBODY),
    Rule(Right.USE_TOKENS, _("Make tokens for programs, which show what the person sees"), EVERYBODY),
    Rule(Right.CLAIM, _("Claim unassigned machines for a team"), frozenset({"engineer", "team_lead", "admin"})),
    Rule(
        Right.SET_PRICES, _("Set and end prices that fleet.yaml does not manage"), frozenset({"finance", "admin"}),
        whole_only=True,
    ),
    Rule(Right.INVITE, _("Invite viewers and engineers, and take these roles away"), frozenset({"team_lead", "admin"})),
    Rule(Right.READ_AUDIT, _("Read the audit trail"), frozenset({"finance", "admin"}), whole_only=True),
    Rule(Right.MANAGE_PEOPLE, _("Give and take every role, switch people off"), frozenset({"admin"}), whole_only=True),
    Rule(Right.MANAGE_TEAMS, _("Make, rename and move teams, set cost centres"), frozenset({"admin"}), whole_only=True),
    Rule(
        Right.MANAGE_SETTINGS, _("Connect and check sources, change settings, channels and routes"),
        frozenset({"admin"}), whole_only=True,
    ),
)  # fmt: skip
RULE_OF = {rule.right: rule for rule in RULES}

GRANTABLE: Mapping[Right, frozenset[str]] = {
    Right.INVITE: frozenset({"viewer", "engineer"}),
    Right.MANAGE_PEOPLE: EVERYBODY,
}
"""The roles that each right lets one give and take, within the teams for which one has the right."""


class Grant(NamedTuple):
    """A role for a team and its sub-teams, or, without a team, everywhere."""

    role: str
    team_id: int | None


def scope_of(right: Right, grants: Iterable[Grant], parents: Mapping[int, int | None]) -> frozenset[int] | None:
    """Give the teams for which these grants give ``right``; None: everywhere, an empty set: nowhere."""
    rule = RULE_OF[right]
    having = [grant.team_id for grant in grants if grant.role in rule.roles]
    if rule.whole_only:
        having = [team for team in having if team is None]
    return visible_teams(having, parents)


def has_right(
    right: Right, grants: Iterable[Grant], parents: Mapping[int, int | None], team_id: int | None = None
) -> bool:
    """Say whether these grants give ``right`` for a team; ``team_id`` None: everywhere."""
    scope = scope_of(right, grants, parents)
    return scope is None or (team_id is not None and team_id in scope)


def may_grant(grants: Collection[Grant], role: str, team_id: int | None, parents: Mapping[int, int | None]) -> bool:
    """Say whether who has ``grants`` may give and take ``role`` for a team; ``team_id`` None: everywhere."""
    return any(role in roles and has_right(right, grants, parents, team_id) for right, roles in GRANTABLE.items())


READS_AUDIT = RULE_OF[Right.READ_AUDIT].roles  # granted without a team: acts of all teams stand in the trail
