"""The idle queue as a list."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from rest_framework import serializers

from billing.queries.idle_queue import Entry, Group, idle_queue
from billing.queries.prices_now import PricesNow
from common.money import plain
from common.pages import Page, Slice
from common.periods import iso
from fleet.api.shapes import ExemptShape
from fleet.domain.idle_cost import cost_of
from fleet.domain.states import IDLE
from fleet.queries.queue import QueueAsked, evidence_of
from people.api.documented import listed
from people.api.parameters import TEAM, Parameter
from people.api.routes import ListRoute
from people.api.shapes import amount, moment, number, text, whole


class IdleShape(serializers.Serializer[Any]):
    """A machine of the idle queue."""

    group = text("idle: now; next: quiet, and idle at idle_at; unseen: not seen well enough to say; exempt: idle too")
    instance = text()
    account = text(null=True)
    team = text(null=True)
    owner = text(null=True)
    gpu_model = text(null=True)
    gpu_count = whole(null=True)
    state = text()
    reason = text()
    since = moment("of its idle clock, while it is idle", null=True)
    minutes = number("covered minutes idle")
    quiet_since = moment(null=True)
    idle_at = moment("when it would be called idle if it stays quiet", null=True)
    peak_pct = number()
    coverage_pct = number()
    points = whole("raw points in the window", null=True)
    currency = text(null=True)
    price_per_hour = amount("null: unpriced", null=True)
    idle_cost = amount(null=True)
    exempt = ExemptShape(allow_null=True)


@listed(IdleShape, "Machines that are idle, will be, can't be seen or are exempt, by what happens next.")
class IdleRoute(ListRoute):
    """The idle queue; what a verdict rests on is read for the rows of the page only."""

    own_parameters = (
        Parameter("group", "only what happens next to it", choices=tuple(Group)),
        Parameter("account", "only of this provider account"),
        Parameter("gpu_model", "only of this GPU model"),
        Parameter("owner", "only of this owner's, by e-mail address"),
        TEAM,
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page, in the order of the machines' rows."""
        which = QueueAsked(
            self.rows_of(asked), asked.get("account", ""), asked.get("gpu_model", ""), asked.get("owner", "")
        )
        entries = [
            one
            for one in idle_queue(which, PricesNow(), self.visitor.now)
            if asked.get("group") in (None, one.group) and (part.after is None or one.machine.id > part.after)
        ][: part.limit + 1]
        evidence = evidence_of([one.machine.id for one in entries[: part.limit]])
        return part.page([(one.machine.id, self._document(one, evidence.get(one.machine.id, {}))) for one in entries])

    def _document(self, one: Entry, evidence: Mapping[str, Any]) -> dict[str, Any]:
        found, price = one.machine, one.price
        minutes, is_idle = found.minutes, found.state in IDLE
        if is_idle and minutes is None and found.since is not None:
            minutes = (self.visitor.now - found.since) // timedelta(minutes=1)
        cost = cost_of(price.per_hour, minutes) if is_idle and price and minutes is not None else None
        return {
            "group": one.group.value,
            "instance": found.name,
            "account": found.account,
            "team": self.team_names().get(found.team_id or 0),
            "owner": found.owner or None,
            "gpu_model": found.model or None,
            "gpu_count": found.gpu_count,
            "state": found.state,
            "reason": found.reason,
            "since": iso(found.since) if is_idle and found.since else None,
            "minutes": minutes if is_idle else None,
            "quiet_since": iso(found.quiet_since) if found.quiet_since else None,
            "idle_at": iso(found.idle_at) if found.idle_at else None,
            **{name: evidence.get(name) for name in ("peak_pct", "coverage_pct", "points")},
            "currency": price.currency if price else None,
            "price_per_hour": plain(price.per_hour) if price else None,
            "idle_cost": plain(cost),
            "exempt": one.exempt,
        }
