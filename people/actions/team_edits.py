"""Make, change and remove teams by hand. Those that fleet.yaml names are changed there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from common.errors import BadInput, Refused
from people.actions.audit import record
from people.actions.authority import authority_of
from people.actions.past import keep_cost_center
from people.actions.teams import delete_team
from people.models import Team, User
from people.roles import Right


@dataclass(frozen=True)
class TeamForm:
    """A team as a person wants it: its name, the team above it, its cost centre."""

    name: str
    parent_id: int | None = None
    cost_center: str = ""


@transaction.atomic
def make_team(*, now: datetime, by: User, form: TeamForm) -> int:
    """Make a team. Raises BadInput (bad_team_name, team_exists, unknown_team), Refused (not_permitted)."""
    authority_of(by).demand(Right.MANAGE_TEAMS)
    team = Team(name=_free_name(form.name, None), parent=_parent(form.parent_id), cost_center=form.cost_center.strip())
    team.save()
    record(
        now=now, by=by.email, action="make_team", subject_kind="team", subject=team.name,
        parent=team.parent.name if team.parent else None, cost_center=team.cost_center or None,
    )  # fmt: skip
    return int(team.pk)


@transaction.atomic
def change_team(*, now: datetime, by: User, team_id: int, form: TeamForm) -> str:
    """Bring a team to ``form``; another cost centre counts from ``now`` on. Gives the name that it had.

    Raises BadInput (bad_team_name, team_exists, unknown_team, team_circle), Refused (not_permitted, managed_by_file).
    """
    team = _own_team(by, team_id)
    before = {
        "name": team.name, "parent": team.parent.name if team.parent else None, "cost_center": team.cost_center or None
    }  # fmt: skip
    parent = _parent(form.parent_id)
    _refuse_circle(team, parent)
    if form.cost_center.strip() != team.cost_center:
        keep_cost_center(team, team.cost_center, until=now)
    team.name, team.parent, team.cost_center = _free_name(form.name, team), parent, form.cost_center.strip()
    team.from_telemetry = False
    after = {"name": team.name, "parent": parent.name if parent else None, "cost_center": team.cost_center or None}
    team.save()
    changed = {key: [before[key], after[key]] for key in before if before[key] != after[key]}
    if changed:
        record(
            now=now, by=by.email, action="change_team", subject_kind="team", subject=str(before["name"]),
            changes=changed,
        )  # fmt: skip
    return str(before["name"])


@transaction.atomic
def remove_team(*, now: datetime, by: User, team_id: int) -> None:
    """Remove a team that nothing refers to. Raises BadInput (unknown_team), Refused (still_referenced, ...)."""
    team = _own_team(by, team_id)
    name = team.name
    delete_team(team)
    record(now=now, by=by.email, action="remove_team", subject_kind="team", subject=name)


@transaction.atomic
def accept_teams(*, now: datetime, by: User) -> list[str]:
    """Keep the teams that telemetry named as they are; give their names."""
    authority_of(by).demand(Right.MANAGE_TEAMS)
    rows = Team.objects.filter(from_telemetry=True).order_by("name")
    names = list(rows.values_list("name", flat=True))
    rows.update(from_telemetry=False)
    if names:
        record(now=now, by=by.email, action="accept_teams", subject_kind="team", subject=", ".join(names)[:300])
    return names


def _own_team(by: User, team_id: int) -> Team:
    """Find a team that pages may change."""
    authority_of(by).demand(Right.MANAGE_TEAMS)
    team = Team.objects.select_for_update(of=("self",)).select_related("parent").filter(pk=team_id).first()
    if team is None:
        raise BadInput("unknown_team", "There is no such team.", hint="Load the page again.")
    if team.declared is not None:
        raise Refused("managed_by_file", "fleet.yaml manages this team.", hint="Change the file and apply it again.")
    return team


def _parent(parent_id: int | None) -> Team | None:
    if parent_id is None:
        return None
    parent = Team.objects.filter(pk=parent_id).first()
    if parent is None:
        raise BadInput("unknown_team", "There is no such team.", hint="Load the page again.")
    return parent


def _refuse_circle(team: Team, parent: Team | None) -> None:
    seen: set[int] = set()
    current = parent
    while current is not None and current.pk not in seen:
        if current.pk == team.pk:
            raise BadInput("team_circle", "A team can't stand below itself.", hint="Choose another team above it.")
        seen.add(current.pk)
        current = current.parent


def _free_name(name: str, team: Team | None) -> str:
    text = name.strip()
    if not text or len(text) > 120 or not text.isprintable():
        raise BadInput("bad_team_name", "A team's name has 1 to 120 characters.", hint="Write it out.")
    others = Team.objects.filter(name__iexact=text)
    if (others.exclude(pk=team.pk) if team else others).exists():
        raise BadInput("team_exists", f"There is a team {text!r} already.", hint="Take another name.")
    return text
