"""Routes of `fleet`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from billing.queries.job_list import JobList
from billing.queries.machine_figures import MachineFigures
from billing.queries.prices import Prices
from billing.queries.prices_now import PricesNow
from common.clock import BEHIND
from common.errors import BadInput
from common.pages import Page, Slice
from common.periods import iso, local_day
from fleet.api.shapes import FindingShape, InstanceShape, JobShape, PlacedGpuShape, RecordShape, SourceShape
from fleet.domain.job_filter import KINDS, JobFilter
from fleet.domain.states import FindingKind, State
from fleet.queries.explain import explain
from fleet.queries.health import SourceHealth, sources_health
from fleet.queries.jobs_now import holds_on, jobs_page
from fleet.queries.lists import findings_page, gpus_page
from fleet.queries.record import team_of
from fleet.queries.standing_documents import Reader, standing_page
from fleet.sentences import next_sentence, verdict_sentence
from people.api.documented import documented, listed
from people.api.parameters import SINCE, TEAM, UNTIL, Parameter
from people.api.routes import ListRoute, Route, whole_page
from people.visitor import Visitor

STATE = Parameter("state", "only what is in this state", choices=tuple(State))
ACCOUNT = Parameter("account", "only of this provider account")
HOST = Parameter("host", "only on this host")
INSTANCE = Parameter("instance", "only of the instance with this id")
UNKNOWN_ACCOUNT = "-"


def reader_of(visitor: Visitor) -> Reader:
    """Give what documents need to know of their reader."""
    names = {pk: team.name for pk, team in visitor.teams.items()}
    return Reader(visitor.everything, names, visitor.now)


@listed(InstanceShape, "Instances with their standing verdicts, as `judge` prints them.")
class Instances(ListRoute):
    """Instances."""

    own_parameters = (
        TEAM,
        ACCOUNT,
        INSTANCE,
        HOST,
        STATE,
        Parameter("instance_state", "only what its provider says is in this state"),
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        reader, choice = reader_of(self.visitor), self.rows_of(asked)
        today = local_day(self.visitor.now, self.visitor.house.zone)
        figures = MachineFigures(choice, today.replace(day=1), today)
        return standing_page(asked, part, choice, reader, PricesNow(), say=verdict_sentence, more=figures.documents)


@documented(
    RecordShape,
    "The decision record of one instance, as `explain` prints it.",
    path={"account": "its provider account; `-` for a host that no account knows", "external_id": "its id there"},
)
class Instance(Route):
    """One instance; `-` as account is for hosts that no account knows."""

    def get(self, request: Request, account: str, external_id: str) -> Response:
        """Give its record; another team's is as unknown as one that does not exist."""
        self.asked(request)
        name = None if account == UNKNOWN_ACCOUNT else account
        found = team_of(name, external_id)
        if found is None or not self.visitor.everything.covers(found.team_id):
            raise Http404
        at = self.visitor.now if self.visitor.house.is_replaying else self.visitor.now - BEHIND
        try:
            record = explain(
                f"{account}/{external_id}", at, Prices([found.id]), say=verdict_sentence, instance_id=found.id
            )
        except BadInput as error:  # known, but not at this time; its hint would name others' machines
            raise Http404 from error
        record["next"] = [{**one, "sentence": next_sentence(one["what"], one["at"])} for one in record["next"]]
        return Response(self._seen(record, found.id))

    def _seen(self, record: dict[str, Any], pk: int) -> dict[str, Any]:
        """Leave out jobs of teams that may not be seen, and what was found about them."""
        if self.visitor.sees_all:
            return record
        holds = holds_on([pk], self.visitor.everything, self.visitor.now).get(pk, [])
        visible = {hold.name for hold in holds}
        record["jobs"] = [job for job in record["jobs"] if job["id"] in visible]
        record["findings"] = [
            one
            for one in record["findings"]
            if one["evidence"]["subject"]["kind"] != "job" or one["evidence"]["subject"]["id"] in visible
        ]
        return record


@listed(PlacedGpuShape, "GPUs and MIG slices with their standing verdicts.")
class Gpus(ListRoute):
    """GPUs."""

    own_parameters = (
        TEAM,
        ACCOUNT,
        INSTANCE,
        HOST,
        STATE,
        Parameter("model", "only of this model"),
        Parameter("uuid", "only of this device"),
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        return gpus_page(asked, part, self.rows_of(asked), reader_of(self.visitor))


@listed(JobShape, "Jobs, newest first.")
class Jobs(ListRoute):
    """Jobs."""

    own_parameters = (
        TEAM,
        STATE,
        Parameter("running", "true: only what runs; false: only what has ended", "flag"),
        Parameter("kind", "only of this kind", choices=KINDS),
        Parameter("source", "only those that this telemetry source tells of"),
        Parameter("advice", "true: only with advice; false: only without", "flag"),
        Parameter("owner", "only of this owner"),
        Parameter("job", "only with this id"),
        Parameter("since", "only what started at this time or later", "time"),
        Parameter("until", "only what started before this time", "time"),
        Parameter("ran_since", "only what runs, or ended after this time", "time"),
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        choice = self.rows_of(asked)
        figures = JobList(choice, JobFilter(), self.visitor.now)
        return jobs_page(asked, part, choice, self.team_names(), more=figures.documents)


@listed(FindingShape, "What deserves an eye, newest first.")
class Findings(ListRoute):
    """Findings."""

    own_parameters = (
        TEAM,
        Parameter("kind", "only of this kind", choices=tuple(FindingKind)),
        Parameter("open", "true: only what is not over; false: only what is", "flag"),
        Parameter("subject_kind", "only about this", choices=("gpu", "job", "instance", "source", "target", "host")),
        Parameter("subject", "only about the subject of this name"),
        INSTANCE,
        SINCE,
        UNTIL,
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        return findings_page(asked, part, self.rows_of(asked), reader_of(self.visitor))


@listed(SourceShape, "Telemetry sources and how fresh they are.")
class Sources(ListRoute):
    """Sources."""

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the few there are."""
        return whole_page([_source(one, self.visitor.sees_all) for one in sources_health(self.visitor.now)], part)


def _source(one: SourceHealth, sees_all: bool) -> dict[str, Any]:
    error = {"code": one.error_code, "message": one.error_message, "hint": one.error_hint}
    waiting = one.collected_until is None
    state = "failing" if one.is_failing else "waiting" if waiting else "late" if one.is_late else "ok"
    return {
        "name": one.name,
        "state": state,
        "collected_until": iso(one.collected_until) if one.collected_until else None,
        "age_minutes": None if one.age is None else round(one.age / timedelta(minutes=1), 2),
        "gpus": one.gpus if sees_all else None,
        "coverage_pct": one.coverage_pct if sees_all else None,
        "error": error if sees_all and one.is_failing else None,
    }
