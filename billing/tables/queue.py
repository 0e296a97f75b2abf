"""The idle queue as pages and files show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.queries.idle_queue import Entry, Group, Sum, sum_of
from common.cells import Badge, Kind, Link, Money
from common.listed import Listing, arranged, paged
from common.listing import Asked, Column, TableSpec
from common.money import plain
from common.periods import parse_moment
from fleet.domain.idle_cost import cost_of
from fleet.domain.states import IDLE
from fleet.tables.record import idle_minutes, machine_kind, sentence_of
from people.queries import TeamName
from people.visitor import Visitor

SHOWN = {Group.IDLE: 50, Group.NEXT: 20, Group.UNSEEN: 10, Group.EXEMPT: 10}
"""So many rows of each group stand on the page of all groups; one group alone goes page by page."""
TITLES: Mapping[Group, Any] = {
    Group.IDLE: gettext_lazy("Idle now"),
    Group.NEXT: gettext_lazy("Will be called idle next"),
    Group.UNSEEN: gettext_lazy("Can’t be seen well enough to say"),
    Group.EXEMPT: gettext_lazy("Exempt"),
}
NOTES: Mapping[Group, Any] = {
    Group.IDLE: gettext_lazy("Every signal was quiet at its peak over the whole window."),
    Group.NEXT: gettext_lazy("Quiet, but the window is not full. One busy sample takes a machine off this list."),
    Group.UNSEEN: gettext_lazy("No data is not idle: these count nowhere until they are seen."),
    Group.EXEMPT: gettext_lazy("Idle as well, and left alone on somebody’s word."),
}
QUEUE = TableSpec(
    "idle-machines",
    (
        Column("group", gettext_lazy("What is next"), Kind.BADGE, in_page=False, sortable=False),
        Column("when", gettext_lazy("When"), Kind.MOMENT),
        Column("machine", gettext_lazy("Machine"), Kind.LINK),
        Column("account", gettext_lazy("Account"), Kind.TEXT, in_page=False),
        Column("team", gettext_lazy("Team"), Kind.TEXT, in_page=False),
        Column("owner", gettext_lazy("Owner"), Kind.TEXT, in_page=False),
        Column("model", gettext_lazy("GPU model"), Kind.TEXT, in_page=False),
        Column("gpus", gettext_lazy("GPUs"), Kind.NUMBER, in_page=False),
        Column("state", gettext_lazy("State"), Kind.STATE, in_page=False),
        Column("why", gettext_lazy("Why"), Kind.TEXT, sortable=False),
        Column("peak", gettext_lazy("Peak"), Kind.PERCENT, in_page=False, sortable=False),
        Column("samples", gettext_lazy("Points in the window"), Kind.NUMBER, in_page=False, sortable=False),
        Column("coverage", gettext_lazy("Coverage"), Kind.PERCENT, in_page=False, sortable=False),
        Column("idle_for", gettext_lazy("Idle for"), Kind.SPAN, desk=True),
        Column("rate", gettext_lazy("Per hour"), Kind.PER_HOUR),
        Column("so_far", gettext_lazy("So far"), Kind.MONEY, desk=True, total=True),
        Column("exempt_until", gettext_lazy("Exempt until"), Kind.MOMENT, in_page=False, sortable=False),
    ),
    default_sort="-rate",
    row_id="id",
)


@dataclass
class QueueRow:
    """A machine of the queue. ``when``: idle since, idle at, unseen since; by its group.

    ``why``, ``peak``, ``samples``, ``coverage`` are filled in for rows that are shown. ``is_list_price``: no contract
    says what it costs. ``exempt_by`` and ``exempt_why`` of an exempt one.
    """

    id: int
    group: Badge
    when: datetime | None
    machine: Link
    account: str
    team: str
    owner: str
    model: str
    gpus: int | None
    state: str
    idle_for: timedelta | None
    rate: Money
    so_far: Money
    currency: str
    entry: Entry
    is_list_price: bool = False
    exempt_by: str = ""
    exempt_why: str = ""
    exempt_until: datetime | None = None
    why: str = ""
    peak: float | None = None
    samples: int | None = None
    coverage: float | None = None

    @property
    def kind(self) -> str:
        """What it is, like `8 × H100`."""
        return machine_kind(self.gpus, self.model)


@dataclass(frozen=True)
class Part:
    """A group as the page shows it. ``rows`` of ``total.machines``; ``more``: where all of them stand, if not here."""

    group: Group
    title: str
    note: str
    total: Sum
    rows: Sequence[QueueRow]
    more: str = ""


@dataclass(frozen=True)
class QueuePage:
    """The parts that are shown, and the listing for heads, pages and files."""

    parts: list[Part]
    listing: Listing
    shown: list[QueueRow] = field(default_factory=list)


def queue_rows(entries: Sequence[Entry], teams: Mapping[int, TeamName], at: datetime) -> list[QueueRow]:
    """Make rows that can be put in order and added up; what a verdict rests on is not read yet."""
    return [_row(one, teams, at) for one in entries]


def _row(one: Entry, teams: Mapping[int, TeamName], at: datetime) -> QueueRow:
    found, price = one.machine, one.price
    team, minutes = teams.get(found.team_id or 0), None
    if found.state in IDLE:
        minutes = idle_minutes({"minutes": found.minutes}, found.since, at)
    whens = {Group.NEXT: found.idle_at, Group.UNSEEN: found.state_since}
    currency = price.currency if price else ""
    cost = cost_of(price.per_hour, minutes) if price and minutes is not None else None
    exempt = one.exempt or {}
    return QueueRow(
        id=found.id,
        group=Badge(TITLES[one.group], key=one.group),
        when=whens.get(one.group, found.since),
        machine=Link(found.name, found.path),
        account=found.account or "",
        team=team.name if team else _("Unassigned"),
        owner=found.owner,
        model=found.model,
        gpus=found.gpu_count,
        state=found.state,
        idle_for=None if minutes is None else timedelta(minutes=minutes),
        rate=Money(Decimal(plain(price.per_hour) or 0) if price else None, currency),
        so_far=Money(cost, currency),
        currency=currency,
        entry=one,
        is_list_price=bool(price and price.is_list_price),
        exempt_by=str(exempt.get("by") or ""),
        exempt_why=str(exempt.get("reason") or ""),
        exempt_until=parse_moment(exempt["until"]) if exempt.get("until") else None,
    )


def explained(rows: Sequence[QueueRow], evidence: Mapping[int, Mapping[str, Any]], visitor: Visitor) -> None:
    """Fill in what the verdicts of ``rows`` rest on."""
    for row in rows:
        found, facts, price = row.entry.machine, evidence.get(row.id, {}), row.entry.price
        row.peak, row.samples, row.coverage = facts.get("peak_pct"), facts.get("points"), facts.get("coverage_pct")
        row.why = sentence_of(
            found.state, found.reason, found.since, facts, price=(price.per_hour, price.currency) if price else None,
            at=visitor.now, zone=visitor.house.zone, is_brief=True,
        )  # fmt: skip


def queue_page(rows: Sequence[QueueRow], asked: Asked, group: str) -> QueuePage:
    """Arrange rows: the beginning of each group, or a page of the one that is asked for."""
    parts, shown = [], []
    found = arranged(rows, asked)
    for one in Group:
        mine = [row for row in found if row.entry.group is one]
        if group not in ("", one) or (not mine and one is not Group.IDLE):
            continue
        first = asked.offset if group else 0
        cut = mine[first : first + (asked.spec.page_size if group else SHOWN[one])]
        total = sum_of([row.entry for row in mine])
        more = _only(asked, one) if not group and len(mine) > len(cut) else ""
        parts.append(Part(one, str(TITLES[one]), str(NOTES[one]), total, cut, more))
        shown += cut
    count = sum(part.total.machines for part in parts) if group else len(shown)
    return QueuePage(parts, paged(shown, asked, count=count), shown)


def _only(asked: Asked, group: Group) -> str:
    """Give the address of one group with all else that is asked for."""
    return f"{asked.query(page=1)}{'&' if len(asked.query(page=1)) > 1 else ''}group={group}"
