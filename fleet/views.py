"""Pages of machines: the record of one instance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.queries.instance_cost import instance_cost
from billing.queries.prices_now import PricesNow
from common.periods import local_day, month_period
from fleet.domain.idle_cost import cost_of
from fleet.domain.ports import HourlyPrice
from fleet.domain.states import IDLE
from fleet.queries.record import Record, record_of
from fleet.tables import gpu_rows, history_rows, idle_minutes, machine_kind, sentence_of, state_band
from people.visitor import Visitor, signed_in

BAND = timedelta(days=7)


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
    }
    return render(request, "fleet/instance.html", context)


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
    return Cost(price, idle, instance_cost(record.id, month_period(f"{today:%Y-%m}", zone)), today)
