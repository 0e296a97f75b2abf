"""What a machine or a job used over time: bars for pictures, hours for files. Of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from billing.domain.month_spend import HOUR_MS, TIME_STATES, MonthSpend
from billing.queries.list_sql import named, read
from billing.queries.month import COLUMNS, Days, spend_of
from common.periods import Period
from people.roles import TeamChoice

PIECE = timedelta(days=3)  # of hours that a file reads at a time
_MS = ", ".join(f"coalesce(sum({{of}}.{state}_ms), 0)::bigint" for state in TIME_STATES)
_AMOUNT = "c.working + c.low + c.held + c.empty + c.unknown + c.stopped"


@dataclass(frozen=True)
class Of:
    """Whose use: of an instance, or of a job on all its machines."""

    instance_id: int | None = None
    job_id: int | None = None

    @property
    def column(self) -> str:
        """The column that names it."""
        return "instance_id" if self.instance_id is not None else "job_id"

    @property
    def key(self) -> int | None:
        """Its row id."""
        return self.instance_id if self.instance_id is not None else self.job_id


def days_of(of: Of, days: Days, choice: TeamChoice) -> dict[str, MonthSpend]:
    """Give currency -> money and GPU-time by state of the local days [first, end)."""
    values: dict[str, Any] = {"key": of.key, "first": days.first, "end": days.end}
    team = named(*choice.condition("m.team_id"), "t", values)
    sums = ", ".join(f"sum(m.{column.removeprefix('compute_')})" for column in COLUMNS)
    rows = read(
        f"""SELECT m.currency, {sums} FROM billing_machineday m
            WHERE m.{of.column} = %(key)s AND m.day >= %(first)s AND m.day < %(end)s AND {team}
            GROUP BY 1 ORDER BY 1""",
        values,
    )
    return {row[0]: spend_of(row[1:]) for row in rows}


def day_bars(of: Of, days: Days, choice: TeamChoice) -> dict[date, dict[str, float]]:
    """Give local day -> GPU-hours by state; days of which nothing is known are absent."""
    values: dict[str, Any] = {"key": of.key, "first": days.first, "end": days.end}
    team = named(*choice.condition("m.team_id"), "t", values)
    rows = read(
        f"""SELECT m.day, {_MS.format(of="m")} FROM billing_machineday m
            WHERE m.{of.column} = %(key)s AND m.day >= %(first)s AND m.day < %(end)s AND {team} GROUP BY 1""",
        values,
    )
    return {day: _hours(ms) for day, *ms in rows}


def hour_bars(of: Of, period: Period, choice: TeamChoice) -> dict[datetime, dict[str, float]]:
    """Give hour -> GPU-hours by state; hours of which nothing is known are absent."""
    values: dict[str, Any] = {"key": of.key, "start": period.start, "end": period.end}
    team = named(*choice.condition("h.team_id"), "t", values)
    rows = read(
        f"""SELECT h.hour, {_MS.format(of="h")} FROM fleet_gpuhour h
            WHERE h.{of.column} = %(key)s AND h.hour >= %(start)s AND h.hour < %(end)s AND {team} GROUP BY 1""",
        values,
    )
    return {hour: _hours(ms) for hour, *ms in rows}


def _hours(ms: list[int]) -> dict[str, float]:
    return {state: value / HOUR_MS for state, value in zip(TIME_STATES, ms, strict=True)}


@dataclass(frozen=True)
class HourRow:
    """A GPU's hour, or the part of it that was for one job and team. ``cost`` None: unpriced. ``gpu`` "": not seen."""

    hour: datetime
    instance: str
    account: str
    gpu: str
    gpu_index: int | None
    model: str
    job: str
    owner: str
    team_id: int | None
    hours: Mapping[str, float]
    stopped: float
    cost: Decimal | None
    currency: str
    is_list_price: bool


def hour_rows(of: Of, period: Period, choice: TeamChoice) -> Iterator[HourRow]:
    """Give the hours that start in ``period``, oldest first, read piece by piece."""
    start = period.start
    while start < period.end:
        end = min(start + PIECE, period.end)
        yield from _piece(of, Period(start, end), choice)
        start = end


def _piece(of: Of, period: Period, choice: TeamChoice) -> Iterator[HourRow]:
    values: dict[str, Any] = {"key": of.key, "start": period.start, "end": period.end}
    team = named(*choice.condition("h.team_id"), "t", values)
    job = named(*choice.condition("j.team_id"), "j", values)
    times = ", ".join(f"h.{state}_ms" for state in TIME_STATES)
    rows = read(
        f"""SELECT h.hour, i.external_id, coalesce(a.name, ''), coalesce(g.uuid, ''), g.index, h.gpu_model,
                   CASE WHEN {job} THEN j.external_id END, h.owner, h.team_id, h.stopped_ms, {_AMOUNT},
                   coalesce(c.currency, ''), coalesce(c.is_list_price, FALSE), c.counts_time, {times}
            FROM fleet_gpuhour h JOIN fleet_instance i ON i.id = h.instance_id
            LEFT JOIN fleet_account a ON a.id = i.account_id LEFT JOIN fleet_gpu g ON g.id = h.gpu_ref
            LEFT JOIN fleet_job j ON j.id = h.job_id
            LEFT JOIN billing_gpuhourcost c ON c.hour = h.hour AND c.instance_id = h.instance_id
                AND c.gpu_ref = h.gpu_ref AND c.share = h.share AND c.hour >= %(start)s AND c.hour < %(end)s
            WHERE h.{of.column} = %(key)s AND h.hour >= %(start)s AND h.hour < %(end)s AND {team}
            ORDER BY h.hour, i.external_id, g.index, g.uuid, h.gpu_ref, h.share, c.currency""",
        values,
    )
    for (
        hour,
        name,
        account,
        gpu,
        index,
        model,
        job_name,
        owner,
        team_id,
        stopped,
        cost,
        currency,
        listed,
        counts,
        *ms,
    ) in rows:
        counted = [0] * len(ms) if counts is False else ms  # a second currency of the hour has its money alone
        yield HourRow(
            hour, name, account, gpu, index, model, job_name or "", owner, team_id, _hours(counted),
            0.0 if counts is False else stopped / HOUR_MS, cost, currency, listed,
        )  # fmt: skip
