"""The record of one machine: its verdict with the evidence, what its GPUs did, what ran on it, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.queries.month import Days
from billing.queries.prices_now import PricesNow
from billing.queries.usage import Of, days_of, hour_rows
from common.exports import file_answer
from common.listing import read_listing
from common.periods import iso, local_day
from common.words import date_forms
from fleet.charts.activity import STEP_SECONDS, gpu_activity
from fleet.domain.idle_cost import cost_of
from fleet.domain.next_steps import next_steps
from fleet.domain.ports import HourlyPrice
from fleet.domain.states import IDLE, State
from fleet.filters import SPANS, Span, address, read_span
from fleet.queries.activity import Activity, activity_of
from fleet.queries.behind import Behind, behind
from fleet.queries.fleet_at import FORGOTTEN_AFTER
from fleet.queries.ran_on import happened_on
from fleet.queries.record import Record, record_of
from fleet.queries.trace import TracedGpu, trace
from fleet.sentences import next_sentence
from fleet.tables.jobs import HOURS, hour_lines
from fleet.tables.record import (
    activity_rows,
    gpu_rows,
    history_rows,
    idle_minutes,
    job_rows,
    machine_kind,
    policy_rows,
    rule_text,
    sentence_of,
)
from fleet.tables.span import band_of, job_bars
from fleet.views.bars import bars_of
from people.visitor import Visitor, signed_in

GPUS_IN_PICTURE = 16
RENEWED = 60  # seconds


@dataclass(frozen=True)
class Cost:
    """Price now, what this idle time has cost so far (None: not idle or unpriced), and the month by currency."""

    price: HourlyPrice | None
    idle_so_far: Decimal | None
    month: Mapping[str, Any]
    month_day: date


@require_safe
@signed_in
def instance(request: HttpRequest, visitor: Visitor, account: str, external_id: str) -> HttpResponseBase:
    """Show the record of one instance; another team's is as unknown as one that does not exist."""
    record = record_of(None if account == "-" else account, external_id, visitor.everything)
    if record is None:
        raise Http404
    span = read_span(request.GET, visitor)
    names = {pk: team.name for pk, team in visitor.teams.items()}
    asked = read_listing(request.GET, HOURS)
    if asked.as_file:
        rows = hour_rows(Of(instance_id=record.id), span.period, visitor.everything)
        return file_answer(HOURS, hour_lines(rows, names), asked, "gpu-hours", zone=visitor.house.zone)
    cost = _cost(record, visitor)
    minutes = _idle_minutes(record, visitor)
    base = behind(record, visitor.every_team, visitor.now)
    happened = happened_on(record.id, span.period, visitor.everything)
    context: dict[str, Any] = {
        "visitor": visitor,
        "live": RENEWED if span.key == "24h" else None,
        "record": record,
        "findings": record.findings,
        "team": visitor.teams.get(record.team_id or 0),
        "kind": machine_kind(record.gpu_count or len(record.gpus), _model(record)),
        "sentence": _sentence(record, cost, visitor),
        "idle_for": None if minutes is None else timedelta(minutes=minutes),
        "stands_for": visitor.now - record.verdict.start if record.verdict else None,
        "cost": cost,
        "gpus": gpu_rows(record.gpus, visitor.now),
        "history": history_rows(record.history, visitor.now),
        "span": span,
        "spans": [(key, address(request.GET, period=key, since="", until="")) for key in SPANS],
        "hours_csv": address(request.GET, **{"as": "csv"}),
        "band": band_of(happened.verdicts, span.period),
        "ran": job_bars(happened.jobs, span.period, names),
        "ran_more": happened.more,
        "behind": base,
        "policy_rows": policy_rows(base.policy),
        "rule_text": rule_text(base.matched),
        "jobs": job_rows(base.jobs, visitor.teams, visitor.everything.covers, visitor.now),
    }
    context |= _activity(record, base, span, visitor, context["hours_csv"])
    return render(request, "fleet/instance.html", context)


def _activity(record: Record, base: Behind, span: Span, visitor: Visitor, csv: str) -> dict[str, Any]:
    """Give the picture of the span, and what happens next, from the same samples where these are enough."""
    activity = activity_of(record.gpus, base.rule, base.started, visitor.now)
    # A GPU that was not seen for a day was exchanged, and has no say any more.
    lately = [one.last for one in activity.gpus if visitor.now - one.gpu.last_seen_at < FORGOTTEN_AFTER]
    steps = next_steps(
        State(record.verdict.state) if record.verdict else State.UNKNOWN,
        started=base.started.timestamp() if base.started else None,
        rule=base.rule,
        gpus=lately or [one.last for one in activity.gpus],
        now=activity.marks[-1],
    )
    zone = visitor.house.zone
    found: dict[str, Any] = {"next": [next_sentence(what, _iso(at), zone) for what, at in steps]}
    if visitor.now - span.period.start > timedelta(days=settings.SAMPLE_DAYS):
        return found | {"bars": bars_of(Of(instance_id=record.id), span.period, visitor, csv)}
    picture = _newest(activity, base, visitor) if span.key == "24h" else _traced(record, base, span, activity, visitor)
    return found | ({"activity": picture} if picture else {})


def _newest(activity: Activity, base: Behind, visitor: Visitor) -> dict[str, Any] | None:
    """The picture of the last day, from the samples that are read anyhow."""
    rows = activity_rows(activity.gpus, GPUS_IN_PICTURE)
    signals = {str(one.signal) for one in activity.gpus if one.signal}
    if not signals:
        return None
    figure = gpu_activity(
        activity.marks, rows, threshold_pct=base.rule.threshold_pct, window_start=activity.window_start,
        zone=visitor.house.zone, dates=date_forms(),
    )  # fmt: skip
    start, end = _moment(activity.marks[0] - STEP_SECONDS), _moment(activity.marks[-1])
    return {
        "figure": figure, "rows": len(rows), "all": len(activity.gpus), "signals": sorted(signals), "start": start,
        "end": end, "minutes": STEP_SECONDS // 60, "has_window": True,
    }  # fmt: skip


def _traced(record: Record, base: Behind, span: Span, activity: Activity, visitor: Visitor) -> dict[str, Any] | None:
    """The picture of another span, thinned."""
    gpus = [TracedGpu(gpu.id, gpu.index, gpu.name, gpu.mig_instance) for gpu in record.gpus]
    found = trace(gpus, span.period)
    signals = {str(one.signal) for one in found.gpus if one.signal}
    if not signals:
        return None
    rows = activity_rows(found.gpus, GPUS_IN_PICTURE)
    figure = gpu_activity(
        found.marks, rows, threshold_pct=base.rule.threshold_pct, window_start=activity.window_start,
        zone=visitor.house.zone, step=found.step, dates=date_forms(),
    )  # fmt: skip
    return {
        "figure": figure, "rows": len(rows), "all": len(found.gpus), "signals": sorted(signals),
        "start": span.period.start, "end": span.period.end, "minutes": found.step // 60,
        "has_window": span.period.start.timestamp() < activity.window_start < span.period.end.timestamp(),
    }  # fmt: skip


def _moment(mark: float) -> datetime:
    return datetime.fromtimestamp(mark, UTC)


def _iso(mark: float | None) -> str | None:
    return None if mark is None else iso(_moment(mark))


def _idle_minutes(record: Record, visitor: Visitor) -> float | None:
    verdict = record.verdict
    is_idle = verdict is not None and verdict.state in IDLE
    return idle_minutes(record.evidence, verdict.since if verdict else None, visitor.now) if is_idle else None


def _sentence(record: Record, cost: Cost, visitor: Visitor) -> str:
    verdict = record.verdict
    if verdict is None:
        return ""
    rate = (cost.price.per_hour, cost.price.currency) if cost.price else None
    return sentence_of(
        verdict.state, verdict.reason, verdict.since, record.evidence, price=rate, at=visitor.now,
        zone=visitor.house.zone,
    )  # fmt: skip


def _model(record: Record) -> str:
    return str(record.attributes.get("gpu_model") or next((gpu.model for gpu in record.gpus if gpu.model), ""))


def _cost(record: Record, visitor: Visitor) -> Cost:
    price = PricesNow().prices([record.id], visitor.now).get(record.id)
    minutes = _idle_minutes(record, visitor)
    idle = cost_of(price.per_hour, minutes) if price and minutes is not None else None
    today = local_day(visitor.now, visitor.house.zone)
    days = Days(today.replace(day=1), today + timedelta(days=1))
    return Cost(price, idle, days_of(Of(instance_id=record.id), days, visitor.everything), today)
