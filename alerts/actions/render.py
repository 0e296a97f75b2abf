"""Turn a message's facts into words, by the renderer of its kind (a table of dotted paths in settings)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, cast

import structlog
from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from alerts.domain.ports import Rendered
from alerts.models import Alert, Message
from common.periods import iso
from people.queries import organization, organization_zone

Renderer = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
log = structlog.get_logger(__name__)

GENERIC = "alerts.sentences.render"


def render_message(message: Message, alerts: list[Alert], *, to: str, now: datetime) -> Rendered:
    """Give the message in words. A renderer that fails must not lose the message: then the generic one speaks."""
    facts = {
        **message.facts, "subject": message.subject, "message_kind": message.kind, "said_at": iso(now),
        "zone": organization_zone(),
    }  # fmt: skip
    words = words_of(message.topic, facts)
    link = str(words.get("link") or "")
    return Rendered(
        kind=message.kind,
        title=str(words["title"]),
        sentence=str(words.get("sentence") or ""),
        lines=tuple((str(label), str(value)) for label, value in words.get("lines") or ()),
        link=settings.FLEETLEDGER_URL.rstrip("/") + link if link.startswith("/") and settings.FLEETLEDGER_URL else "",
        link_text=str(words.get("link_text") or ""),
        organization=organization().name,
        reason=_reason(message, to),
        data={"facts": message.facts, "alerts": [_alert(alert) for alert in alerts]},
    )


def words_of(topic: str, facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give title, sentence, lines and link of a message about ``topic``: facts with its subject and message_kind."""
    path = settings.ALERT_RENDERERS.get(topic, GENERIC)
    try:
        return _words(path, topic, facts)
    except Exception as error:
        log.exception("renderer_failed", kind=topic, renderer=path, error=type(error).__name__)
        return _words(GENERIC, topic, facts)


def _reason(message: Message, to: str) -> str:
    """Say why ``to`` (an address or nothing) gets the message."""
    if to and to == message.owner.strip().lower():
        return _("You get this because you own %(name)s.") % {"name": message.subject}
    if to and message.team:
        return _("You get this for the team %(team)s.") % {"team": message.team.name}
    return ""


def _words(path: str, kind: str, facts: Mapping[str, Any]) -> Mapping[str, Any]:
    renderer = cast("Renderer", import_string(path))
    words = renderer(kind, facts)
    generic = cast("Renderer", import_string(GENERIC))(kind, facts)
    return {**generic, **{key: value for key, value in words.items() if value not in (None, "", [])}}


def _alert(alert: Alert) -> dict[str, Any]:
    return {
        "id": alert.pk,
        "rule": alert.rule,
        "kind": alert.kind,
        "subject": {"kind": alert.subject_kind, "id": alert.subject, "account": alert.account or None},
        "team": alert.team.name if alert.team else None,
        "owner": alert.owner or None,
        "episode": alert.episode,
        "state": alert.state,
        "opened_at": iso(alert.opened_at),
        "resolved_at": iso(alert.resolved_at) if alert.resolved_at else None,
    }
