"""The page of one job: what it did, on which machines, and what that cost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.queries.month import Days
from billing.queries.usage import Of, days_of, hour_rows
from common.exports import file_answer
from common.listing import read_listing
from common.periods import STEP, Period, floor_mark, local_day, parse_moment
from common.words import date_forms
from fleet.charts.activity import gpu_activity
from fleet.domain.states import IDLE
from fleet.filters import address
from fleet.queries.jobs import JobRecord, job_record
from fleet.queries.trace import TracedGpu, trace
from fleet.sentences import verdict_sentence
from fleet.tables.jobs import HOURS, advice_sentence, hour_lines
from fleet.tables.places import place_rows, traced_rows
from fleet.tables.span import band_of
from fleet.views.bars import bars_of
from people.visitor import Visitor, signed_in

GPUS_IN_PICTURE = 16
RENEWED = 60  # seconds
MOST_BAND = timedelta(days=60)


@require_safe
@signed_in
def job(request: HttpRequest, visitor: Visitor, source: str, external_id: str) -> HttpResponseBase:
    """Show one job; another team's is as unknown as one that does not exist."""
    started = parse_moment(request.GET["started"], key="started") if request.GET.get("started") else None
    record = job_record(source, external_id, visitor.everything, started)
    if record is None:
        raise Http404
    life = _life(record, visitor)
    names = {pk: team.name for pk, team in visitor.teams.items()}
    asked = read_listing(request.GET, HOURS)
    if asked.as_file:
        rows = hour_rows(Of(job_id=record.id), life, visitor.everything)
        return file_answer(HOURS, hour_lines(rows, names), asked, "job-gpu-hours", zone=visitor.house.zone)
    zone = visitor.house.zone
    days = Days(local_day(life.start, zone), local_day(life.end, zone) + timedelta(days=1))
    spend = days_of(Of(job_id=record.id), days, visitor.everything)
    csv = address(request.GET, **{"as": "csv"})
    is_idle = record.state in IDLE and record.ended_at is None
    context: dict[str, Any] = {
        "visitor": visitor,
        "live": RENEWED if record.ended_at is None else None,
        "job": record,
        "findings": [_finding(one, record) for one in record.findings],
        "team": names.get(record.team_id or 0),
        "sentence": _sentence(record, visitor),
        "idle_for": visitor.now - record.since if is_idle and record.since else None,
        "ran_for": (record.ended_at or visitor.now) - record.started_at,
        "advice": advice_sentence(record.advice) if record.advice else "",
        "life": life,
        "spend": spend,
        "hours": {state: sum(one.hours(state) for one in spend.values()) for state in HOUR_STATES},
        "places": place_rows(record.places, visitor.everything.covers, visitor.now),
        "gpus": len({gpu for place in record.places for gpu in place.gpu_ids}),
        "band": band_of(record.history, life),
        "picture": bars_of(Of(job_id=record.id), life, visitor, csv),
        "hours_csv": csv,
    }
    return render(request, "fleet/job.html", context | _activity(record, life, visitor))


HOUR_STATES = ("working", "low", "held", "empty", "unknown")


def _finding(one: Mapping[str, Any], record: JobRecord) -> dict[str, Any]:
    """Give a finding as the panel of findings shows it: its times as moments, about the job itself."""
    opened, closed = (datetime.fromisoformat(at) if at else None for at in (one["opened_at"], one["closed_at"]))
    return {"kind": one["kind"], "subject": record.external_id, "opened_at": opened, "closed_at": closed}


def _life(record: JobRecord, visitor: Visitor) -> Period:
    """From its start to its end or now."""
    end = floor_mark(min(record.ended_at or visitor.now, visitor.now)) + STEP
    return Period(min(record.started_at, end - STEP), end)


def _sentence(record: JobRecord, visitor: Visitor) -> str:
    if record.state is None or record.ended_at is not None:
        return ""
    facts = {"gpus": 0, **record.evidence, "state": record.state, "reason": record.reason, "zone": visitor.house.zone}
    return verdict_sentence(facts | {"since": record.since.isoformat() if record.since else None})


def _activity(record: JobRecord, life: Period, visitor: Visitor) -> dict[str, Any]:
    """Draw its GPUs while it held them, as far back as samples are kept."""
    oldest = visitor.now - timedelta(days=settings.SAMPLE_DAYS)
    if life.start < oldest or not record.places:
        return {}
    gpus = [
        TracedGpu(gpu, None, place.external_id, "", [(place.start.timestamp(), (place.end or life.end).timestamp())])
        for place in record.places
        for gpu in place.gpu_ids
    ]
    found = trace(gpus[: 4 * GPUS_IN_PICTURE], life)
    if not any(one.signal and one.highest is not None for one in found.gpus):
        return {}
    rows = traced_rows(found.gpus, GPUS_IN_PICTURE)
    figure = gpu_activity(
        found.marks, rows, threshold_pct=float(record.evidence.get("threshold_pct") or 5), window_start=0,
        zone=visitor.house.zone, step=found.step, dates=date_forms(),
    )  # fmt: skip
    signals = sorted({str(one.signal) for one in found.gpus if one.signal})
    return {
        "activity": {
            "figure": figure, "rows": len(rows), "all": len(gpus), "signals": signals, "start": life.start,
            "end": life.end, "minutes": found.step // 60, "has_window": False,
        }
    }  # fmt: skip
