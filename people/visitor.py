"""Who looks at a page: signed in, with the teams they may see, the house around them, and the time of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django_htmx.http import HttpResponseClientRefresh

from common.clock import real_now
from common.errors import BadInput
from common.refusal_words import told
from people.models import User
from people.queries import House, TeamName, house, teams
from people.roles import Right, TeamChoice, has_right, scope_of, visible_teams, with_sub_teams

P = ParamSpec("P")


@dataclass(frozen=True)
class Visitor:
    """``visible``: ids of the teams whose data may be shown, None for all and Unassigned. ``teams``: these only.

    ``every_team``: for rules that look at teams; what it holds is never shown.
    """

    user: User
    house: House
    teams: dict[int, TeamName]
    every_team: dict[int, TeamName]
    visible: frozenset[int] | None
    now: datetime

    @property
    def sees_all(self) -> bool:
        """Whether everything may be shown: Unassigned, addresses of sources, their errors."""
        return self.visible is None

    @property
    def sees_nothing(self) -> bool:
        """Whether nobody has said yet what this person may see."""
        return self.visible is not None and not self.visible

    @property
    def everything(self) -> TeamChoice:
        """All rows that may be shown."""
        return TeamChoice(self.visible, unassigned=self.sees_all)

    def can(self, right: Right | str, team_id: int | None = None) -> bool:
        """Say whether this person has ``right`` for a team; without one: everywhere."""
        return has_right(Right(right), self.house.granted, self.parents, team_id)

    def can_somewhere(self, right: Right | str) -> bool:
        """Say whether this person has ``right`` for some team, or everywhere."""
        scope = scope_of(Right(right), self.house.granted, self.parents)
        return scope is None or bool(scope)

    @property
    def rights(self) -> frozenset[str]:
        """The rights that this person has for some team at least: which pages and buttons are shown."""
        return frozenset(right.value for right in Right if self.can_somewhere(right))

    @property
    def parents(self) -> dict[int, int | None]:
        """Every team's parent, by id."""
        return {team.id: team.parent_id for team in self.every_team.values()}

    def team_named(self, name: str) -> TeamName | None:
        """Find a visible team by name, in any case; another's team is not found."""
        return next((team for team in self.teams.values() if team.name.lower() == name.lower()), None)

    def team_and_below(self, team: TeamName) -> frozenset[int]:
        """Give the team with its visible sub-teams."""
        return with_sub_teams([team.id], {one.id: one.parent_id for one in self.teams.values()})


def visitor_of(user: User) -> Visitor:
    """Read what a page needs to know about ``user``. Under replay the page's time is the world's."""
    place, every = house(user), teams()
    visible = visible_teams(
        (grant.team_id for grant in place.granted), {team.id: team.parent_id for team in every.values()}
    )
    shown = every if visible is None else {team.id: team for team in every.values() if team.id in visible}
    now = place.world_at if place.is_replaying and place.world_at else real_now()
    return Visitor(user=user, house=place, teams=shown, every_team=every, visible=visible, now=now)


Page = Callable[Concatenate[HttpRequest, Visitor, P], HttpResponseBase]


def _answered(
    page: Page[P], request: HttpRequest, visitor: Visitor, *args: P.args, **kwargs: P.kwargs
) -> HttpResponseBase:
    """Give the page's answer; for what can't be used as it was given, a page that names it, with a remedy."""
    try:
        return page(request, visitor, *args, **kwargs)
    except BadInput as error:
        return render(request, "400.html", {"hint": told(error)}, status=400)


def signed_in(page: Page[P]) -> Callable[..., HttpResponseBase]:
    """Give ``page`` its visitor; send strangers to the sign-in page, and who has no grant to a page that says so."""

    @wraps(page)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not isinstance(request.user, User):
            # A fragment must not be replaced by the sign-in page: the whole page goes there.
            is_fragment = "HX-Request" in request.headers
            return HttpResponseClientRefresh() if is_fragment else redirect_to_login(request.get_full_path())
        visitor = visitor_of(request.user)
        if visitor.sees_nothing:
            answer: HttpResponseBase = render(request, "people/no_grant.html", {"visitor": visitor}, status=403)
        else:
            answer = _answered(page, request, visitor, *args, **kwargs)
        patch_cache_control(answer, private=True, no_cache=True)
        return answer

    return guarded
