"""People and their roles: an admin sees all, a team lead those of their teams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from alerts.actions.invite import mail_invitation
from common.clock import real_now
from common.errors import FleetledgerError
from people.actions.grants import add_grant, remove_grant, switch_off, switch_on
from people.actions.invitations import GOOD_FOR, Invited, invite, resend, revoke
from people.forms import PersonForm
from people.queries.persons import can_sign_in, last_applied, open_invitations, people_of
from people.roles import GRANTABLE, ROLE_ORDER, RULES, Right, scope_of
from people.sentences.refusals import refusal
from people.tables import role_table
from people.visitor import Visitor, signed_in

Act = Callable[[HttpRequest, Visitor], "Invited | None"]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def people(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show who has which role; a POST gives, takes, invites, or switches off."""
    if not visitor.can_somewhere(Right.INVITE):
        return render(request, "403.html", status=403)
    if request.method != "POST":
        return _page(request, visitor)
    act = ACTS.get(request.POST.get("act", ""))
    if act is None:
        return render(request, "400.html", status=400)
    try:
        with transaction.atomic():
            invited = act(request, visitor)
            is_mailed = invited is not None and mail_invitation(
                email=invited.invitation.email, invitation_id=invited.invitation.pk, now=real_now()
            )
    except FleetledgerError as error:
        return _page(request, visitor, refused=refusal(error))
    if invited is None:
        return redirect("people")
    if not is_mailed:
        link = f"{settings.FLEETLEDGER_URL}/invitations/{invited.token}/"
        return _page(request, visitor, made=invited.invitation, link=link)
    messages.success(request, _("The invitation to %(email)s is on its way.") % {"email": invited.invitation.email})
    return redirect("people")


def _page(request: HttpRequest, visitor: Visitor, **more: Any) -> HttpResponse:
    """Render the page; ``refused`` says what was not done, ``link`` is shown this once."""
    scope = _scope(visitor)
    refused = more.get("refused")
    form = PersonForm(request.POST if refused else None, roles=_roles(visitor), teams=_teams(visitor))
    everybody = people_of(scope)
    context = {
        "nav": "people", "visitor": visitor, "now": real_now(), "people": everybody, "form": form,
        "invitations": open_invitations(scope), "is_admin": visitor.can(Right.MANAGE_PEOPLE),
        "active": sum(one.is_active for one in everybody), "grantable": _roles(visitor), "days": GOOD_FOR.days,
        "applied": last_applied(), "rules": role_table(RULES),
    }  # fmt: skip
    status = refused.status if refused else 201 if more.get("link") else 200
    return render(request, "people/people.html", context | more, status=status)


def _scope(visitor: Visitor) -> frozenset[int] | None:
    """Give the teams whose people the visitor sees; None: everybody."""
    if visitor.can(Right.MANAGE_PEOPLE):
        return None
    return scope_of(Right.INVITE, visitor.house.granted, visitor.parents)


def _roles(visitor: Visitor) -> list[str]:
    """Give the roles that the visitor may give somewhere, from the least to the most."""
    allowed = {role for right, roles in GRANTABLE.items() if visitor.can_somewhere(right) for role in roles}
    return [role for role in ROLE_ORDER if role in allowed]


def _teams(visitor: Visitor) -> list[tuple[str, str]]:
    """Give the teams that the visitor may give roles for, by id."""
    scope = _scope(visitor)
    teams = [(str(team.id), team.name) for team in visitor.teams.values() if scope is None or team.id in scope]
    return [("", _("Everywhere")), *teams] if scope is None else teams


def _add(request: HttpRequest, visitor: Visitor) -> Invited | None:
    """Give a role to somebody who can sign in, invite anybody else."""
    email, role = request.POST.get("email", ""), request.POST.get("role", "")
    team_id = _number(request.POST.get("team", ""))
    if not can_sign_in(email):
        return invite(now=real_now(), by=visitor.user, email=email, role=role, team_id=team_id)
    is_new = add_grant(now=real_now(), by=visitor.user, email=email, role=role, team_id=team_id)
    text = _("%(email)s has the role now.") if is_new else _("%(email)s has this role already.")
    messages.success(request, text % {"email": email.strip().lower()})
    return None


def _remove(request: HttpRequest, visitor: Visitor) -> None:
    remove_grant(now=real_now(), by=visitor.user, grant_id=_number(request.POST.get("grant", "")) or 0)
    messages.success(request, _("The role was taken away."))


def _off(request: HttpRequest, visitor: Visitor) -> None:
    switch_off(now=real_now(), by=visitor.user, user_id=_number(request.POST.get("person", "")) or 0)
    messages.success(request, _("Switched off: their sessions and tokens have ended."))


def _on(request: HttpRequest, visitor: Visitor) -> None:
    switch_on(now=real_now(), by=visitor.user, user_id=_number(request.POST.get("person", "")) or 0)
    messages.success(request, _("Switched on again."))


def _resend(request: HttpRequest, visitor: Visitor) -> Invited:
    invitation_id = _number(request.POST.get("invitation", "")) or 0
    return resend(now=real_now(), by=visitor.user, invitation_id=invitation_id)


def _revoke(request: HttpRequest, visitor: Visitor) -> None:
    revoke(now=real_now(), by=visitor.user, invitation_id=_number(request.POST.get("invitation", "")) or 0)
    messages.success(request, _("The invitation was revoked."))


ACTS: dict[str, Act] = {
    "add": _add, "remove": _remove, "off": _off, "on": _on, "resend": _resend, "revoke": _revoke,
}  # fmt: skip


def _number(text: str) -> int | None:
    """Read an id; nothing means everywhere, and what is no number is the id of nothing."""
    if not text:
        return None
    return int(text) if text.isdecimal() and len(text) < 18 else 0
