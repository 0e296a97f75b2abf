"""Refusals of acts in pages, in words: what is wrong, and what to do. The status that goes with each."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from common.errors import FleetledgerError, Refused
from common.refusal_words import refusal_words

WORDS: dict[str, tuple[Promise | str, Promise | str]] = {
    "not_permitted": (_("Your role does not cover this."), _("Ask an admin.")),
    "unknown_person": (_("Nobody has this address."), _("Invite them.")),
    "unknown_role": (_("There is no such role."), _("Take one from the list.")),
    "unknown_team": (_("There is no such team."), _("Take one from the list.")),
    "unknown_grant": (_("This role was taken away already."), _("Load the page again.")),
    "unknown_invitation": (_("This invitation is over already."), _("Load the page again.")),
    "managed_by_file": (_("fleet.yaml manages this."), _("Change it in the file and apply it again.")),
    "switched_off": (_("This person is switched off."), _("An admin can switch them on again first.")),
    "last_admin": (
        _("This is the last admin who can sign in."),
        _("Make somebody else an admin of everything first; they must have a password."),
    ),
    "can_sign_in": (_("This person can sign in already."), _("Give them the role instead.")),
    "already_invited": (_("This address is invited already."), _("Send that invitation again, or revoke it.")),
    "bad_email": (_("This is no e-mail address."), _("Write name@example.com.")),
    "bad_name": (_("A name has 1 to 200 characters."), _("Write it out.")),
    "weak_password": (
        _("This password is too short or easy to guess."),
        _("Take at least 12 characters: three or four words that do not belong together."),
    ),
    "bad_invitation": (
        _("This link is unknown, was used already, or has run out."),
        _("Ask for a new invitation."),
    ),
    "inviter_lost_right": (_("The person who invited you may not do so any more."), _("Ask an admin.")),
    "private_address": (
        _("This is, or leads to, a private address."),
        _("Tick the box below to allow it: the audit trail keeps that you said so."),
    ),
    "secret_not_declared": (
        _("This secret is not one that pages may use."),
        _("Name its variable in FLEETLEDGER_SECRETS on the server, then take it from the list."),
    ),
    "demo_database": (_("This is the demo’s database."), _("Connect a source to your own, as said on this page.")),
    "blank": (_("Something is missing."), _("Fill in every field that must not stay empty.")),
    "unknown_channel": (_("There is no such channel."), _("Take one from the list.")),
    "unknown_route": (_("This route is not there any more."), _("Load the page again.")),
    "bad_team_name": (_("A team’s name has 1 to 120 characters."), _("Write it out.")),
    "team_exists": (_("There is a team of this name already."), _("Names are the same in any case; take another.")),
    "team_circle": (_("A team can’t stand below itself."), _("Choose another team above it.")),
}


@dataclass(frozen=True)
class Refusal:
    """A refusal for people: ``status`` is the answer's."""

    text: str
    hint: str
    status: int


def refusal(error: FleetledgerError) -> Refusal:
    """Put an error into the visitor's language; one that is not known here speaks for itself."""
    text, hint = WORDS.get(error.code) or refusal_words(error.code, error.message, error.hint)
    return Refusal(str(text), str(hint), status_of(error))


def status_of(error: FleetledgerError) -> int:
    """Give the HTTP status: 403 for a missing right, 404 for what is not there, 400 for all else."""
    if isinstance(error, Refused) and error.code == "not_permitted":
        return 403
    return 404 if error.code.startswith("unknown_") or error.code == "bad_invitation" else 400
