"""One sentence per event of the audit trail. An action that is not known here is told by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from common.code_words import CODE_WORDS, word_of
from people.roles import ROLE_WORDS

Event = Mapping[str, Any]

PLAIN = {
    "sign_in": gettext_lazy("%(by)s signed in."),
    "first_login": gettext_lazy("The first admin %(subject)s was made."),
    "set_password": gettext_lazy("%(by)s gave %(subject)s a new password."),
    "create_token": gettext_lazy("%(by)s made the token “%(name)s” for %(owner)s."),
    "revoke_token": gettext_lazy("%(by)s revoked the token fl_%(subject)s."),
    "clock_to_replay": gettext_lazy("The database was put under replayed time."),
    "clock_to_live": gettext_lazy("%(by)s put the database back under the real clock."),
    "channel_broken": gettext_lazy("The channel %(subject)s broke: %(reason)s."),
    "channel_mended": gettext_lazy("%(by)s mended the channel %(subject)s."),
    "switch_off": gettext_lazy("%(by)s switched %(subject)s off."),
    "switch_on": gettext_lazy("%(by)s switched %(subject)s on again."),
    "make_team": gettext_lazy("%(by)s made the team %(subject)s."),
    "remove_team": gettext_lazy("%(by)s removed the team %(subject)s."),
    "accept_teams": gettext_lazy("%(by)s kept the teams that telemetry named: %(subject)s."),
    "revoke_invitation": gettext_lazy("%(by)s revoked the invitation of %(subject)s."),
    "accept_invitation": gettext_lazy("%(subject)s accepted the invitation."),
    "connect_source": gettext_lazy("%(by)s connected the source %(subject)s."),
    "change_source": gettext_lazy("%(by)s changed the source %(subject)s."),
    "check_sources": gettext_lazy("%(by)s ran all checks."),
    "change_organization": gettext_lazy("%(by)s changed the organisation."),
    "change_idle_rule": gettext_lazy("%(by)s changed the idle rule of the organisation."),
    "save_channel": gettext_lazy("%(by)s saved the channel %(subject)s."),
    "test_channel": gettext_lazy("%(by)s sent a test message over %(subject)s."),
    "change_routes": gettext_lazy("%(by)s changed who is told what."),
    "claim": gettext_lazy("%(by)s claimed %(subject)s for the team %(team)s."),
    "claim_ended": gettext_lazy("%(by)s ended the claim of %(subject)s for the team %(team)s."),
    "claim_undone": gettext_lazy("%(by)s took back the claim of %(subject)s for the team %(team)s."),
    "set_price": gettext_lazy("%(by)s set the price %(subject)s."),
    "end_price": gettext_lazy("%(by)s ended the price %(subject)s."),
    "start_incident": gettext_lazy("%(by)s started the incident %(subject)s."),
    "end_incident": gettext_lazy("%(by)s ended the incident %(subject)s."),
    "save_view": gettext_lazy("%(by)s saved the view “%(subject)s”."),
    "rename_view": gettext_lazy("%(by)s renamed the view “%(subject)s” to “%(name)s”."),
    "remove_view": gettext_lazy("%(by)s removed the view “%(subject)s”."),
    "export_settings": gettext_lazy("%(by)s took a copy of the settings as fleet.yaml."),
}
ROLES = {
    "grant_role": gettext_lazy("%(by)s made %(subject)s %(role)s of %(place)s."),
    "remove_role": gettext_lazy("%(by)s took the role %(role)s of %(place)s from %(subject)s."),
    "invite": gettext_lazy("%(by)s invited %(subject)s as %(role)s of %(place)s."),
    "resend_invitation": gettext_lazy("%(by)s sent %(subject)s another invitation as %(role)s of %(place)s."),
}


def sentence(event: Event) -> str:
    """Say what happened."""
    action = event["action"]
    words = {**{key: str(value) for key, value in event["details"].items()}, "by": _who(event["by"])}
    words |= {"subject": event["subject"], "reason": event["reason"]}
    try:
        if action in ROLES:
            return _of_role(event, words)
        if action in OWN:
            return OWN[action](event, words)
        if action in PLAIN:
            return str(PLAIN[action]) % words
    except (KeyError, TypeError, ValueError):  # an older event may hold less
        pass
    return _("%(by)s: %(action)s on %(subject)s.") % {**words, "action": word_of("act", action)}


def _who(by: str) -> str:
    return str(CODE_WORDS["actor"].get(by, by))


def _of_role(event: Event, words: dict[str, str]) -> str:
    role = event["details"]["role"]
    if role is None:
        return _("%(by)s invited %(subject)s, whose roles fleet.yaml gives.") % words
    place = event["details"].get("team") or _("everything")
    return str(ROLES[event["action"]]) % {**words, "role": ROLE_WORDS.get(role, role), "place": place}


def _apply(event: Event, words: dict[str, str]) -> str:
    counts = event["details"]["counts"]
    changed = sum(int(counts.get(verb, 0)) for verb in ("created", "changed", "removed"))
    text = ngettext(
        "%(by)s applied %(subject)s: %(n)d thing changed.", "%(by)s applied %(subject)s: %(n)d things changed.", changed
    )
    return text % {**words, "n": changed}


def _change_team(event: Event, words: dict[str, str]) -> str:
    changes = event["details"]["changes"]
    if "name" in changes:
        return _("%(by)s renamed the team %(old)s to %(new)s.") % {
            **words, "old": changes["name"][0], "new": changes["name"][1]
        }  # fmt: skip
    return _("%(by)s changed the team %(subject)s.") % words


OWN: dict[str, Callable[[Event, dict[str, str]], str]] = {"apply": _apply, "change_team": _change_team}
