"""What is seen and what isn't: one source in full, machines that are not seen whole, accounts, passes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common.pages import Page, Slice
from common.periods import iso
from fleet.api.shapes import written
from fleet.queries.data_health import SourceDay, account_rows, source_days, unseen_nodes
from fleet.queries.runs import latest_runs
from fleet.queries.source_detail import dropped_of, pulls_of, targets_of
from people.api.documented import documented, listed
from people.api.parameters import TEAM
from people.api.routes import ListRoute, Route, whole_page
from people.api.shapes import flag, many, mapping, moment, number, several, text, whole


class HalfHourShape(serializers.Serializer[Any]):
    """Half an hour of a source."""

    start = moment()
    coverage_pct = number("null: nothing was read")
    failed = whole("pulls that went wrong")


class TargetShape(serializers.Serializer[Any]):
    """A scrape target."""

    name = text()
    is_up = flag("null: the source has no `up` for it", null=True)
    changed_at = moment(null=True)
    interval_seconds = whole("learned from its data", null=True)
    gpus = whole()


class PullErrorShape(serializers.Serializer[Any]):
    """Why a pull went wrong."""

    code = text()
    message = text()
    hint = text()


class PullShape(serializers.Serializer[Any]):
    """A pull of a source."""

    at = moment()
    until = moment("the newest mark it asked for", null=True)
    gpus = whole()
    samples = whole()
    coverage_pct = number()
    is_partial = flag()
    warnings = several(text())
    seconds = number(null=False)
    error = PullErrorShape(allow_null=True)


class DroppedShape(serializers.Serializer[Any]):
    """Samples that were not believed."""

    kind = text()
    signal = text()
    count = whole()


class SourceDetailShape(serializers.Serializer[Any]):
    """A telemetry source, its last day, what stands behind it."""

    name = text()
    kind = text()
    is_enabled = flag()
    is_managed = flag("fleet.yaml names it")
    collected_until = moment("the newest mark with a complete answer", null=True)
    age_minutes = number()
    is_late = flag()
    failing_since = moment(null=True)
    gpus = whole("seen lately")
    silent_gpus = whole("seen within a day, and not lately")
    coverage_pct = number("the mean of the half hours that were read")
    target_count = whole()
    targets_down = whole()
    half_hours = many(HalfHourShape, "the last day, oldest first")
    targets = many(TargetShape, "those that are down first; at most 200")
    pulls = many(PullShape, "the latest, newest first; at most 24")
    dropped = many(DroppedShape, "within a week")


class UnseenShape(serializers.Serializer[Any]):
    """A running machine that is not seen whole."""

    instance = text()
    account = text(null=True)
    host = text(null=True)
    team = text(null=True)
    source = text("the telemetry source that saw it", null=True)
    gpus_expected = whole("null: nobody says how many it has", null=True)
    gpus_seen = whole()
    last_seen_at = moment("null: never", null=True)


class AccountShape(serializers.Serializer[Any]):
    """A provider account."""

    name = text()
    kind = text()
    provider = text()
    synced_at = moment("when its instances were last listed", null=True)
    is_managed = flag("fleet.yaml names it")
    instances = mapping("how many, by what the provider says of them", of=whole())


class PassShape(serializers.Serializer[Any]):
    """How a periodic job went."""

    name = text()
    shard = text("of which source or account; null: there is one only", null=True)
    ok_at = moment("when it last went well", null=True)
    failures = whole("in a row since then")
    error_code = text("of the newest one, if it went wrong", null=True)


@documented(
    SourceDetailShape,
    "One telemetry source with its last day, targets and pulls; for roles of the whole organisation.",
    path={"name": "its name"},
)
class SourceRoute(Route):
    """One source."""

    for_everything = True

    def get(self, request: Request, name: str) -> Response:
        """Give the source."""
        self.asked(request)
        found = source_days(self.visitor.now, name)
        if not found:
            raise Http404
        return Response({**self._facts(found[0]), **self._behind(name)})

    def _facts(self, one: SourceDay) -> dict[str, Any]:
        now = self.visitor.now
        lag = one.lag(now)
        return {
            "name": one.name,
            "kind": one.kind,
            "is_enabled": one.is_enabled,
            "is_managed": one.is_declared,
            "collected_until": written(one.collected_until),
            "age_minutes": None if lag is None else round(lag / timedelta(minutes=1), 2),
            "is_late": one.is_late(now),
            "failing_since": written(one.failing_since),
            "gpus": one.gpus,
            "silent_gpus": one.silent,
            "coverage_pct": None if one.coverage_pct is None else round(one.coverage_pct, 2),
            "target_count": one.targets,
            "targets_down": one.down,
            "half_hours": [
                {
                    "start": iso(cell.start),
                    "coverage_pct": None if cell.coverage_pct is None else round(cell.coverage_pct, 2),
                    "failed": cell.failed,
                }
                for cell in one.cells
            ],
        }

    def _behind(self, name: str) -> dict[str, Any]:
        return {
            "targets": [
                {
                    "name": one.name,
                    "is_up": one.is_up,
                    "changed_at": written(one.changed_at),
                    "interval_seconds": one.interval_seconds,
                    "gpus": one.gpus,
                }
                for one in targets_of(name)
            ],
            "pulls": [_pull(one) for one in pulls_of(name)],
            "dropped": [
                {"kind": one["kind"], "signal": one["signal"], "count": one["n"]}
                for one in dropped_of(name, self.visitor.now)
            ],
        }


def _pull(one: Mapping[str, Any]) -> dict[str, Any]:
    facts = ("gpus", "samples", "coverage_pct", "is_partial", "warnings", "seconds")
    error = {key: one[f"error_{key}"] for key in ("code", "message", "hint")}
    return {
        "at": iso(one["at"]),
        "until": written(one["until"]),
        **{key: one[key] for key in facts},
        "error": error if error["code"] else None,
    }


@listed(UnseenShape, "Running machines that are not seen whole, the longest unseen first; at most 500.")
class Unseen(ListRoute):
    """What we don't see."""

    own_parameters = (TEAM,)

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of them."""
        names = self.team_names()
        rows = [
            {
                "instance": one.name,
                "account": one.account,
                "host": one.host or None,
                "team": names.get(one.team_id or 0),
                "source": one.source or None,
                "gpus_expected": one.expected,
                "gpus_seen": one.seen,
                "last_seen_at": written(one.last_seen),
            }
            for one in unseen_nodes(self.rows_of(asked), self.visitor.now)
        ]
        return whole_page(rows, part)


@listed(AccountShape, "Provider accounts with their instances; for roles of the whole organisation.")
class Accounts(ListRoute):
    """Accounts."""

    for_everything = True

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the few there are."""
        rows = [
            {
                "name": one.name,
                "kind": one.kind,
                "provider": one.provider,
                "synced_at": written(one.synced_at),
                "is_managed": one.is_declared,
                "instances": dict(one.instances),
            }
            for one in account_rows()
        ]
        return whole_page(rows, part)


@listed(PassShape, "How the periodic jobs went; for roles of the whole organisation.")
class Passes(ListRoute):
    """Passes."""

    for_everything = True

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the few there are."""
        rows = [
            {
                "name": one.name,
                "shard": one.shard or None,
                "ok_at": written(one.ok_at),
                "failures": one.failures,
                "error_code": one.error_code or None,
            }
            for one in latest_runs()
        ]
        return whole_page(rows, part)
