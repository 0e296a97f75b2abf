"""The table of machines: its columns, and rows as pages and files show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.cells import Kind, Link, Money
from common.code_words import word_of
from common.listed import Total
from common.listing import Column, TableSpec
from fleet.domain.states import IDLE
from fleet.sentences import reason_sentence
from fleet.tables.record import machine_kind

MACHINES = TableSpec(
    "machines",
    (
        Column("name", gettext_lazy("Machine"), Kind.LINK),
        Column("account", gettext_lazy("Account"), in_page=False),
        Column("team", gettext_lazy("Team"), Kind.LINK, note="owner"),
        Column("owner", gettext_lazy("Owner"), in_page=False),
        Column("state", gettext_lazy("State"), Kind.STATE, template="fleet/_state_cell.html"),
        Column("since", gettext_lazy("Since"), Kind.MOMENT, in_page=False),
        Column("idle_for", gettext_lazy("Idle for"), Kind.SPAN),
        Column("gpus", gettext_lazy("GPUs"), Kind.NUMBER, total=True, note="model"),
        Column("model", gettext_lazy("GPU model"), in_page=False, sortable=False),
        Column("kind", gettext_lazy("Kind"), in_page=False),
        Column("sku", gettext_lazy("Type"), in_page=False, sortable=False),
        Column("region", gettext_lazy("Region"), Kind.TEXT, in_page=False),
        Column("per_hour", gettext_lazy("Per hour"), Kind.PER_HOUR, total=True, template="fleet/_per_hour.html"),
        Column(
            "cost", gettext_lazy("This month"), Kind.MONEY, total=True, currency="cost_currency",
            template="fleet/_month_cost.html",
        ),
        Column(
            "used", gettext_lazy("In use, 7 days"), Kind.PERCENT, places=0,
            help=gettext_lazy("Working time, of the GPU-hours seen in the last seven days"),
        ),
        Column("findings", gettext_lazy("Findings"), Kind.NUMBER, total=True, template="fleet/_findings_cell.html"),
        Column("finding_kinds", gettext_lazy("Kinds of findings"), sortable=False, in_page=False),
    ),
    default_sort="name",
    row_id="id",
)  # fmt: skip


@dataclass(frozen=True)
class MachineLine:
    """A row of the table. ``costs`` empty: nothing was metered; ``is_billed``: it costs something now.

    ``costs``: by currency; what a file can't hold in one cell stands in rows of its own.
    """

    id: int
    name: Link
    account: str
    team: Link
    owner: str
    state: str
    reason: str
    since: datetime | None
    idle_for: timedelta | None
    kind: str
    model: str
    sku: str
    region: str
    gpus: int
    per_hour: Money
    is_billed: bool
    cost: Money
    costs: Sequence[Money]
    used: float | None
    findings: int | None
    finding_kinds: str


def machine_lines(rows: Sequence[Any], team_names: Mapping[int, str], now: datetime) -> Iterator[MachineLine]:
    """Make rows of what `billing.queries.machine_list` reads."""
    for row in rows:
        yield machine_line(row, team_names, now)


def machine_line(row: Any, team_names: Mapping[int, str], now: datetime) -> MachineLine:
    """Make one row."""
    team = team_names.get(row.team_id or 0, "")
    costs = [Money(amount, currency) for currency, amount in row.month.items()]
    if row.unpriced_month:
        costs.append(Money(None, row.currency))
    kinds = ", ".join(word_of("finding", kind) for kind in row.findings)
    return MachineLine(
        id=row.id,
        name=Link(row.external_id, row.path, row.account or _("no account")),
        account=row.account or "",
        team=Link(team or _("Unassigned"), "", flag=not team),
        owner=row.owner,
        state=row.state,
        reason=reason_sentence(row.reason) if row.reason else _("It has not been judged yet."),
        since=row.since,
        idle_for=now - row.since if row.state in IDLE and row.since else None,
        kind=machine_kind(row.gpus, row.model),
        model=row.model,
        sku=row.sku,
        region=row.region,
        gpus=row.gpus,
        per_hour=Money(row.per_hour, row.currency, _("list price") if row.is_list_price else ""),
        is_billed=row.is_billed,
        cost=costs[0] if costs else Money(None, ""),
        costs=costs,
        used=row.used_pct,
        findings=len(row.findings) or None,
        finding_kinds=kinds,
    )


def machine_totals(totals: Any) -> dict[str, Any]:
    """Give the row of totals; currencies are never added."""
    return {
        "gpus": totals.gpus,
        "per_hour": Total(money=totals.per_hour, unpriced=totals.unpriced),
        "cost": Total(money=totals.month, unpriced=totals.unpriced_month),
        "findings": totals.findings,
    }


def spread(line: MachineLine) -> Iterator[MachineLine]:
    """Give the rows of a file: one for each currency in which the machine cost something."""
    yield line
    for more in line.costs[1:]:
        if more.amount is not None:
            yield MachineLine(
                **{**vars(line), "cost": more, "gpus": 0, "findings": None,
                   "per_hour": Money(None, more.currency)}
            )  # fmt: skip
