"""Routes of `alerts`: what was wrong, and what was said to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from alerts.queries.documents import alerts_page, deliveries_page
from common.pages import Page, Slice
from people.api.documented import listed
from people.api.parameters import SINCE, TEAM, UNTIL, Parameter
from people.api.routes import ListRoute
from people.api.shapes import SubjectShape, flag, moment, number, several, text, whole


class AlertShape(serializers.Serializer[Any]):
    """An alert: one for each (rule, subject, episode)."""

    id = whole()
    rule = text()
    kind = text("a kind of finding, or budget, balance, source, breaker ...")
    subject = SubjectShape()
    team = text(null=True)
    episode = text()
    state = text("open, acknowledged, snoozed or resolved")
    threshold = text(null=True)
    opened_at = moment()
    resolved_at = moment(null=True)
    reopened = whole()
    notices = whole("messages that were written")


class AttemptShape(serializers.Serializer[Any]):
    """One try of a delivery."""

    at = moment()
    outcome = text("accepted, transient, permanent, simulated or unknown")
    status = whole("their code", null=True)
    retry_after = number("seconds")
    detail = text(null=True)


class DeliveryShape(serializers.Serializer[Any]):
    """One message to one address over one channel."""

    message = text("the stable id that the message is sent under")
    kind = text()
    alerts = several(whole())
    subject = text()
    channel = text()
    to = text(null=True)
    state = text("waiting, sent, failed, dead or simulated")
    delivered_at = moment(null=True)
    attempts = AttemptShape(many=True)
    doubles = whole("sent again after a death between acceptance and record")
    is_fallback = flag()


@listed(AlertShape, "What is or was wrong, newest first.")
class Alerts(ListRoute):
    """Alerts."""

    own_parameters = (
        TEAM,
        Parameter("kind", "only of this kind"),
        Parameter("state", "only in this state", choices=("open", "acknowledged", "snoozed", "resolved")),
        Parameter("rule", "only of this rule"),
        Parameter("subject", "only about the subject of this name"),
        SINCE,
        UNTIL,
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        return alerts_page(asked, part, self.rows_of(asked))


@listed(DeliveryShape, "What was said to whom, with every attempt, newest first.")
class Deliveries(ListRoute):
    """Deliveries."""

    own_parameters = (
        TEAM,
        Parameter("kind", "only messages of this kind"),
        Parameter("state", "only in this state", choices=("waiting", "sent", "failed", "dead", "simulated")),
        Parameter("channel", "only over this channel"),
        Parameter("subject", "only about the subject of this name"),
        SINCE,
        UNTIL,
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        return deliveries_page(asked, part, self.rows_of(asked))
