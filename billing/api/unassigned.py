"""What has no team, and the claims that gave a team."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from billing.tables.unassigned_lines import QueueLine
from billing.tables.unassigned_queue import queue
from common.money import plain
from common.pages import Page, Slice
from common.periods import iso
from fleet.queries.unassigned import open_claims
from people.api.documented import listed
from people.api.errors import NotPermitted
from people.api.parameters import Parameter
from people.api.routes import ListRoute, whole_page
from people.api.shapes import amount, flag, many, mapping, moment, text, whole
from people.roles import Right

FIRST = datetime(1970, 1, 1, tzinfo=UTC)


class SuggestionShape(serializers.Serializer[Any]):
    """A team that it might be of."""

    team = text()
    kind = text("what points to the team: tag, namespace, jobs, owner, host or neighbours")
    fact = text("the tag, the name, the number")
    is_strong = flag("the fact names the team or one of its people")
    sentence = text()


class UnassignedShape(serializers.Serializer[Any]):
    """A machine or job without a team."""

    kind = text("instance or job")
    id = text()
    account = text(null=True)
    instance = text("of a job: the machine that it used last")
    is_unknown_host = flag("no account knows it")
    since = moment("launched, first seen or started", null=True)
    running = text("by the provider's word; of a job: running or ended")
    spent = mapping("by currency, in 92 days without a team; null: unpriced", of=amount(null=True))
    currency = text("of what it costs an hour", null=True)
    price_per_hour = amount("null: it does not run, is a job, or has no price", null=True)
    why = text("why no rule gives it a team")
    suggestions = many(SuggestionShape, "the best first")


class ClaimShape(serializers.Serializer[Any]):
    """A claim that holds."""

    id = whole()
    kind = text("instance or job")
    subject = text("its id")
    team = text()
    valid_from = moment("since when it gives the team")
    made_at = moment()
    made_by = text()


class ForClaimers(ListRoute):
    """For who sees everything, and for who may claim: these see what names one of their teams."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in whom the page lets in."""
        super().initial(request, *args, **kwargs)
        if not self.visitor.sees_all and not self.visitor.can_somewhere(Right.CLAIM):
            raise NotPermitted("What is unassigned is for who may claim it.")


@listed(
    UnassignedShape,
    "What has no team, with its cost and whose it might be: machines by name, then jobs, the newest first.",
)
class Unassigned(ForClaimers):
    """The queue of what has no team."""

    own_parameters = (Parameter("kind", "only these", choices=("instance", "job")),)

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the queue."""
        lines = [row for row in queue(self.visitor) if asked.get("kind") in (None, row.thing.kind)]
        things = [self._document(list(rows)) for _key, rows in groupby(lines, key=lambda row: row.key)]
        return whole_page(things, part)

    def _document(self, rows: list[QueueLine]) -> dict[str, Any]:
        """Write a thing, which has a row for every currency it cost something in."""
        first = rows[0]
        thing, price, names = first.thing, first.price, self.team_names()
        return {
            "kind": thing.kind,
            "id": thing.name,
            "account": thing.account,
            "instance": thing.instance_name,
            "is_unknown_host": thing.is_unknown_host,
            "since": iso(thing.since) if thing.since else None,
            "running": thing.running,
            "spent": {row.spent.currency: plain(row.spent.amount) for row in rows},
            "currency": (price.currency or None) if price else None,
            "price_per_hour": plain(price.amount) if price else None,
            "why": first.why,
            "suggestions": [
                {
                    "team": names[one.team_id],
                    "kind": one.kind,
                    "fact": one.fact,
                    "is_strong": one.is_strong,
                    "sentence": sentence,
                }
                for one, (_team, sentence) in zip(first.suggestions, first.reasons, strict=True)
            ],
        }


@listed(ClaimShape, "Claims that hold, for the teams whose data you see, newest first.")
class Claims(ForClaimers):
    """Claims."""

    own_parameters = (Parameter("since", "only those made at this time or later", "time"),)

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the claims."""
        names = self.team_names()
        rows = [
            {
                "id": one.id,
                "kind": one.kind,
                "subject": one.name,
                "team": names[one.team_id],
                "valid_from": iso(one.valid_from),
                "made_at": iso(one.made_at),
                "made_by": one.made_by,
            }
            for one in open_claims(self.visitor.everything, asked.get("since", FIRST))
        ]
        return whole_page(rows, part)
