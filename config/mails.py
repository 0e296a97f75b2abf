"""Words of mails that are about people: the link of an invitation is written here, when the mail is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from people.queries import organization
from people.queries.invitations import path_of


def invitation(kind: str, facts: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG001 - every renderer takes it
    """Give the words of an invitation; one that is over by now says so and has no link."""
    name = organization().name
    found = path_of(int(facts["invitation"]))
    if found is None:
        return {
            "title": _("Your invitation to Fleetledger was taken back"),
            "sentence": _("The invitation of %(name)s is over. Ask for a new one.") % {"name": name},
        }
    path, by = found
    return {
        "title": _("Your invitation to Fleetledger"),
        "sentence": _(
            "%(by)s invites you to Fleetledger of %(name)s, which shows what every GPU does and costs. The link is "
            "good once, for seven days; on its page you choose a password."
        )
        % {"by": by, "name": name},
        "link": path,
        "link_text": _("Accept the invitation"),
    }


def test_message(kind: str, facts: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG001 - every renderer takes it
    """Give the words of a test message."""
    return {
        "title": _("A test of Fleetledger"),
        "sentence": _("%(by)s sent this to see that messages over %(name)s arrive. Nothing is wrong, nothing to do.")
        % {"by": facts.get("by") or "?", "name": facts.get("subject") or "?"},
        "link": "/settings/",
        "link_text": _("Open the settings"),
    }
