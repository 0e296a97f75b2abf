"""The record of one job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from billing.queries.job_list import JobList
from common.periods import iso
from fleet.api.shapes import STATE, JobShape, written
from fleet.domain.job_filter import JobFilter
from fleet.domain.states import IDLE
from fleet.queries.jobs import JobPlace, JobRecord, job_record
from fleet.sentences import verdict_sentence
from people.api.documented import documented
from people.api.parameters import Parameter
from people.api.routes import Route
from people.api.shapes import many, mapping, moment, text, whole


class JobPlaceShape(serializers.Serializer[Any]):
    """A machine on which a job ran."""

    instance = text("null: nobody knows where this GPU stood", null=True)
    account = text(null=True)
    gpus = whole("how many it held there")
    start = moment()
    end = moment("null: it still does", null=True)


class JobStateShape(serializers.Serializer[Any]):
    """A state that a job was judged to be in."""

    state = text(STATE)
    start = moment()
    end = moment(null=True)


class JobFindingShape(serializers.Serializer[Any]):
    """What was found about a job."""

    kind = text()
    opened_at = moment()
    closed_at = moment(null=True)


class JobRecordShape(JobShape):
    """A job with all that is known of it."""

    reason = text(null=True)
    sentence = text("null: it ended, or nobody has judged it yet", null=True)
    labels = mapping(of=text())
    places = JobPlaceShape(many=True)
    history = many(JobStateShape, "its verdicts, oldest first")
    findings = many(JobFindingShape, "newest first, those that are over too")


@documented(
    JobRecordShape,
    "The record of one job: where it ran, what it did, used and cost; the newest run of its id.",
    path={"source": "the source that tells of it; `-` for one without", "external_id": "its id there"},
)
class JobRoute(Route):
    """One job."""

    parameters = (Parameter("started", "the newest run that started up to this time", "time"),)

    def get(self, request: Request, source: str, external_id: str) -> Response:
        """Give its record; another team's is as unknown as one that does not exist."""
        asked = self.asked(request)
        found = job_record(source, external_id, self.visitor.everything, asked.get("started"))
        if found is None:
            raise Http404
        figures = JobList(self.visitor.everything, JobFilter(), self.visitor.now).documents([found.id])
        return Response({**_document(found, self.team_names()), **figures[found.id]})


def _document(one: JobRecord, teams: Mapping[int, str]) -> dict[str, Any]:
    is_idle, is_over = one.state in IDLE, one.ended_at is not None
    gpus = [gpu for place in one.places if is_over or place.end is None for gpu in place.gpu_ids]
    return {
        "id": one.external_id,
        "source": one.source or None,
        "kind": one.kind,
        "owner": one.owner or None,
        "team": teams.get(one.team_id or 0),
        "started_at": iso(one.started_at),
        "ended_at": written(one.ended_at),
        "state": None if is_over else one.state,
        "reason": one.reason or None,
        "since": written(one.since) if is_idle and not is_over else None,
        "minutes": one.evidence.get("minutes") if is_idle and not is_over else None,
        "peak_pct": one.evidence.get("peak_pct"),
        "mean_pct": one.evidence.get("mean_pct"),
        "sentence": None if is_over or one.state is None else _sentence(one),
        "gpus": len(set(gpus)),
        "advice": one.advice,
        "labels": dict(one.labels),
        "places": [_place(place) for place in one.places],
        "history": [{"state": state, "start": iso(start), "end": written(end)} for state, start, end in one.history],
        "findings": [
            {
                "kind": found["kind"],
                "opened_at": _written(found["opened_at"]),
                "closed_at": _written(found["closed_at"]),
            }
            for found in one.findings
        ],
    }


def _sentence(one: JobRecord) -> str:
    facts = {"gpus": 0, **one.evidence, "state": one.state, "reason": one.reason}
    return verdict_sentence(facts | {"since": one.since.isoformat() if one.since else None})


def _place(one: JobPlace) -> dict[str, Any]:
    return {
        "instance": one.external_id or None,
        "account": one.account,
        "gpus": len(one.gpu_ids),
        "start": iso(one.start),
        "end": written(one.end),
    }


def _written(text: str | None) -> str | None:
    return iso(datetime.fromisoformat(text)) if text else None
