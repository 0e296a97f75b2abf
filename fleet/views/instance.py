"""Pages of machines: the record of one instance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.queries.instance_cost import instance_cost
from billing.queries.prices_now import PricesNow
from common.periods import iso, local_day, month_period
from fleet.charts.activity import STEP_SECONDS, gpu_activity
from fleet.domain.idle_cost import cost_of
from fleet.domain.next_steps import next_steps
from fleet.domain.ports import HourlyPrice
from fleet.domain.states import IDLE, State
from fleet.queries.activity import activity_of
from fleet.queries.behind import Behind, behind
from fleet.queries.fleet_at import FORGOTTEN_AFTER
from fleet.queries.record import Record, record_of
from fleet.sentences import next_sentence
from fleet.tables.record import (
    activity_rows,
    gpu_rows,
    history_rows,
    idle_minutes,
    job_rows,
    machine_kind,
    policy_rows,
    sentence_of,
    state_band,
)
from people.visitor import Visitor, signed_in

BAND = timedelta(days=7)
GPUS_IN_PICTURE = 16


@dataclass(frozen=True)
class Cost:
    """Price now, what this idle time has cost so far (None: not idle or unpriced), and the month by currency."""

    price: HourlyPrice | None
    idle_so_far: Decimal | None
    month: dict[str, Any]
    month_day: date


@require_safe
@signed_in
def instance(request: HttpRequest, visitor: Visitor, account: str, external_id: str) -> HttpResponse:
    """Show the record of one instance; another team's is as unknown as one that does not exist."""
    record = record_of(None if account == "-" else account, external_id, visitor.everything)
    if record is None:
        raise Http404
    cost = _cost(record, visitor)
    minutes = _idle_minutes(record, visitor)
    base = behind(record, visitor.every_team, visitor.now)
    context = {
        "nav": "idle",
        "visitor": visitor,
        "record": record,
        "team": visitor.teams.get(record.team_id or 0),
        "kind": machine_kind(record.gpu_count or len(record.gpus), _model(record)),
        "sentence": _sentence(record, cost, visitor),
        "idle_for": None if minutes is None else timedelta(minutes=minutes),
        "cost": cost,
        "gpus": gpu_rows(record.gpus, visitor.now),
        "history": history_rows(record.history, visitor.now),
        "band": state_band(record.history, visitor.now - BAND, visitor.now),
        "band_since": visitor.now - BAND,
        "behind": base,
        "policy_rows": policy_rows(base.policy),
        "jobs": job_rows(base.jobs, visitor.teams, visitor.everything.covers, visitor.now),
    }
    context |= _activity(record, base, visitor)
    return render(request, "fleet/instance.html", context)


def _activity(record: Record, base: Behind, visitor: Visitor) -> dict[str, Any]:
    """Give the picture of the last hours, and from the same samples what happens next."""
    activity = activity_of(record.gpus, base.rule, base.started, visitor.now)
    rows = activity_rows(activity.gpus, GPUS_IN_PICTURE)
    zone = visitor.house.zone
    # A GPU that was not seen for a day was exchanged, and has no say any more.
    lately = [one.last for one in activity.gpus if visitor.now - one.gpu.last_seen_at < FORGOTTEN_AFTER]
    steps = next_steps(
        State(record.verdict.state) if record.verdict else State.UNKNOWN,
        started=base.started.timestamp() if base.started else None,
        rule=base.rule,
        gpus=lately or [one.last for one in activity.gpus],
        now=activity.marks[-1],
    )
    found: dict[str, Any] = {"next": [next_sentence(what, _iso(at), zone) for what, at in steps]}
    if any(one.signal for one in activity.gpus):
        figure = gpu_activity(
            activity.marks, rows, threshold_pct=base.rule.threshold_pct, window_start=activity.window_start, zone=zone
        )
        found["activity"] = {
            "figure": figure,
            "rows": len(rows),
            "all": len(activity.gpus),
            "signals": sorted({str(one.signal) for one in activity.gpus if one.signal}),
            "start": _moment(activity.marks[0] - STEP_SECONDS),
            "end": _moment(activity.marks[-1]),
        }
    return found


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
    zone = visitor.house.zone
    today = local_day(visitor.now, zone)
    month = instance_cost(record.id, month_period(f"{today:%Y-%m}", zone), visitor.everything)
    return Cost(price, idle, month, today)
