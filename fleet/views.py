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
from billing.queries.prices import Prices
from common.periods import local_day, month_period
from fleet.domain.ports import HourlyPrice
from fleet.queries.record import Record, record_of
from fleet.tables import gpu_rows, history_rows, machine_kind, reason_sentence, state_band
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
    verdict = record.verdict
    team = visitor.teams.get(record.team_id or 0)
    context = {
        "nav": "idle",
        "visitor": visitor,
        "record": record,
        "team": team,
        "kind": machine_kind(record.gpu_count or len(record.gpus), _model(record)),
        "sentence": reason_sentence(verdict.reason) if verdict else "",
        "idle_for": visitor.now - verdict.since if verdict and verdict.since else None,
        "cost": _cost(record, visitor),
        "gpus": gpu_rows(record.gpus, visitor.now),
        "history": history_rows(record.history, visitor.now),
        "band": state_band(record.history, visitor.now - BAND, visitor.now),
        "band_since": visitor.now - BAND,
    }
    return render(request, "fleet/instance.html", context)


def _model(record: Record) -> str:
    return str(record.attributes.get("gpu_model") or next((gpu.model for gpu in record.gpus if gpu.model), ""))


def _cost(record: Record, visitor: Visitor) -> Cost:
    price = Prices([record.id]).prices([record.id], visitor.now).get(record.id)
    verdict = record.verdict
    idle = None
    if price and verdict and verdict.since:
        idle = price.per_hour * Decimal((visitor.now - verdict.since) / timedelta(hours=1))
    zone = visitor.house.zone
    today = local_day(visitor.now, zone)
    return Cost(price, idle, instance_cost(record.id, month_period(f"{today:%Y-%m}", zone)), today)
