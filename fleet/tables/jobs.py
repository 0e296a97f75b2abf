"""The table of jobs: its columns, and rows as pages and files show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from common.cells import Kind, Link, Money
from common.listed import Total
from common.listing import Column, TableSpec
from fleet.sentences import percent_text

SMALL_MEMORY_PCT = 40.0
HOUR_STATES = ("working", "low", "held", "empty", "unknown")
JOBS = TableSpec(
    "jobs",
    (
        Column("name", gettext_lazy("Job"), Kind.LINK),
        Column("kind", gettext_lazy("Kind"), sortable=False, in_page=False),
        Column("team", gettext_lazy("Team"), Kind.LINK, note="owner", desk=True),
        Column("owner", gettext_lazy("Owner"), sortable=False, in_page=False),
        Column("state", gettext_lazy("State"), Kind.STATE, template="fleet/_job_state.html"),
        Column("started", gettext_lazy("Started"), Kind.MOMENT, in_page=False),
        Column("ended", gettext_lazy("Ended"), Kind.MOMENT, sortable=False, in_page=False),
        Column("gpus", gettext_lazy("GPUs"), Kind.NUMBER, note="on"),
        Column("nodes", gettext_lazy("Machines"), Kind.NUMBER, in_page=False),
        Column("ran_for", gettext_lazy("Run time"), Kind.SPAN, desk=True),
        Column("gpu_hours", gettext_lazy("GPU-hours"), Kind.HOURS, total=True),
        Column("cost", gettext_lazy("Cost"), Kind.MONEY, total=True, template="fleet/_month_cost.html"),
        Column(
            "hours", gettext_lazy("What they did"), Kind.MIX, sortable=False, desk=True, parts=HOUR_STATES,
            note="advice",  # what low use was seen, under what it did
        ),
        Column(
            "mean", gettext_lazy("Mean activity"), Kind.PERCENT,
            help=gettext_lazy("Over its life, as of its newest verdict"),
        ),
        Column("advice", gettext_lazy("Advice"), in_page=False),
    ),
    default_sort="-started",
    row_id="id",
)  # fmt: skip


@dataclass(frozen=True)
class JobLine:
    """A row of the table. ``costs`` by currency, empty: nothing was metered yet; ``state`` "ended" when it is over."""

    id: int
    name: Link
    kind: str
    team: Link
    owner: str
    state: str | None
    started: datetime
    ended: datetime | None
    nodes: int | None
    gpus: int | None
    on: str
    ran_for: timedelta
    gpu_hours: float | None
    hours: Mapping[str, float]
    mean: float | None
    cost: Money
    costs: Sequence[Money]
    currency: str
    advice: str


def job_lines(rows: Sequence[Any], team_names: Mapping[int, str], now: datetime) -> Iterator[JobLine]:
    """Make rows of what `billing.queries.job_list` reads."""
    for row in rows:
        yield job_line(row, team_names, now)


def job_line(row: Any, team_names: Mapping[int, str], now: datetime) -> JobLine:
    """Make one row."""
    team = team_names.get(row.team_id or 0, "")
    costs = [Money(amount, currency) for currency, amount in row.cost.items()]
    if row.is_unpriced:
        costs.append(Money(None, ""))
    total = sum(row.hours.values())
    return JobLine(
        id=row.id,
        name=Link(row.external_id, row.path),
        kind=row.kind,
        team=Link(team or _("Unassigned"), "", flag=not team),
        owner=row.owner,
        state=row.state if row.ended_at is None else None,
        started=row.started_at,
        ended=row.ended_at,
        nodes=row.nodes or None,
        gpus=row.gpus or None,
        on=ngettext("%(n)d machine", "%(n)d machines", row.nodes) % {"n": row.nodes} if row.nodes > 1 else "",
        ran_for=(row.ended_at or now) - row.started_at,
        gpu_hours=total or None,
        hours={state: value for state, value in row.hours.items() if value},
        mean=row.mean_pct,
        cost=costs[0] if costs else Money(None, ""),
        costs=costs,
        currency=costs[0].currency if costs else "",
        advice=advice_sentence(row.advice) if row.advice else "",
    )


def advice_sentence(evidence: Mapping[str, Any]) -> str:
    """Say what low utilisation was seen, and where to look first."""
    words = {
        "mean": percent_text(evidence.get("mean_pct")),
        "days": int(evidence.get("days") or 7),
        "memory": percent_text(evidence.get("memory_pct")),
    }
    memory = evidence.get("memory_pct")
    if memory is not None and float(memory) < SMALL_MEMORY_PCT:
        return _(
            "Mean %(mean)s in %(days)s days with %(memory)s of memory in use: larger batches, or a smaller GPU, may do."
        ) % words  # fmt: skip
    return _(
        "Mean %(mean)s in %(days)s days: look at data loading and waiting between GPUs first, then at fewer GPUs."
    ) % words  # fmt: skip


def job_totals(totals: Any) -> dict[str, Any]:
    """Give the row of totals; currencies are never added."""
    return {"gpu_hours": totals.gpu_hours, "cost": Total(money=totals.cost, unpriced=totals.unpriced)}


HOURS = TableSpec(
    "gpu-hours",
    (
        Column("hour", gettext_lazy("Hour from"), Kind.MOMENT),
        Column("instance", gettext_lazy("Machine")),
        Column("account", gettext_lazy("Account")),
        Column("gpu", gettext_lazy("GPU")),
        Column("gpu_index", gettext_lazy("GPU number"), Kind.NUMBER),
        Column("model", gettext_lazy("GPU model")),
        Column("job", gettext_lazy("Job")),
        Column("team", gettext_lazy("Team")),
        Column("owner", gettext_lazy("Owner")),
        Column("working_hours", gettext_lazy("Working hours"), Kind.NUMBER),
        Column("low_hours", gettext_lazy("Low hours"), Kind.NUMBER),
        Column("held_hours", gettext_lazy("Held hours"), Kind.NUMBER),
        Column("empty_hours", gettext_lazy("Empty hours"), Kind.NUMBER),
        Column("unknown_hours", gettext_lazy("Unknown hours"), Kind.NUMBER),
        Column("stopped_hours", gettext_lazy("Stopped hours"), Kind.NUMBER),
        Column("cost", gettext_lazy("Cost"), Kind.MONEY),
        Column("list_price", gettext_lazy("List price")),
    ),
)  # fmt: skip


def hour_lines(rows: Any, team_names: Mapping[int, str]) -> Iterator[Mapping[str, Any]]:
    """Make rows of a file of GPU-hours."""
    for row in rows:
        yield {
            **vars(row), **{f"{state}_hours": round(value, 6) for state, value in row.hours.items()},
            "stopped_hours": round(row.stopped, 6), "team": team_names.get(row.team_id or 0, ""),
            "cost": Money(row.cost, row.currency), "list_price": _("yes") if row.is_list_price else "",
        }  # fmt: skip
