"""Rows of a team's machines: what each does now and what it cost the team."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.domain.month_spend import MonthSpend, total_of
from common.cells import Kind, Link, Money
from common.listing import Column, TableSpec
from fleet.domain.ports import HourlyPrice
from fleet.domain.states import IDLE
from fleet.queries.machines_now import MachineNow
from fleet.tables.record import Price, machine_kind, sentence_of
from people.visitor import Visitor

MACHINES = TableSpec(
    "machines",
    (
        Column("name", gettext_lazy("Machine"), Kind.LINK),
        Column("kind", gettext_lazy("GPUs"), desk=True),
        Column("state", gettext_lazy("Now"), Kind.STATE),
        Column("owner", gettext_lazy("Owner"), desk=True),
        Column("price", gettext_lazy("Price"), Kind.PER_HOUR, desk=True, template="billing/_rate.html"),
        Column("working_pct", gettext_lazy("Utilisation"), Kind.PERCENT, desk=True, places=0),
        Column("gpu_hours", gettext_lazy("GPU-hours"), Kind.HOURS, desk=True, total=True),
        Column("spent", gettext_lazy("Spent"), Kind.MONEY, total=True),
        Column("idle", gettext_lazy("Idle cost"), Kind.MONEY, total=True),
    ),
    "-spent",
    page_size=30,
)


@dataclass(frozen=True)
class MachineLine:
    """A machine, or all machines of others on which the team's jobs ran (``machine`` None), in one currency."""

    machine: MachineNow | None
    currency: str
    spend: MonthSpend
    rate: HourlyPrice | None
    sentence: str

    @property
    def name(self) -> Link:
        """Its name, leading to its record."""
        if self.machine is None:
            return Link(_("On machines of others"), "", _("jobs of the team that ran elsewhere"))
        return Link(self.machine.external_id, self.machine.path, self.machine.account or _("no account knows it"))

    @property
    def kind(self) -> str:
        """Like `8 × H100`."""
        return machine_kind(self.machine.gpu_count, self.machine.model) if self.machine else ""

    @property
    def state(self) -> str | None:
        """What it does now; None: nobody has judged it, or it is gone."""
        return (self.machine.state or None) if self.machine else None

    @property
    def owner(self) -> str:
        """Whose it is."""
        return self.machine.owner if self.machine else ""

    @property
    def price(self) -> Money | None:
        """What it costs an hour now."""
        if self.machine is None or self.machine.running not in ("running", "stopping"):
            return None
        if self.rate is None:
            return Money(None, self.currency)
        return Money(self.rate.per_hour, self.rate.currency, _("list price") if self.rate.is_list_price else "")

    @property
    def working_pct(self) -> float | None:
        """Working share of the GPU-hours that were seen."""
        return self.spend.working_pct

    @property
    def gpu_hours(self) -> float:
        """GPU-hours of the team on it."""
        return self.spend.all_hours

    @property
    def spent(self) -> Money:
        """What it cost the team."""
        return Money(None if self.spend.is_unpriced else self.spend.total, self.currency)

    @property
    def idle(self) -> Money:
        """What its idle time cost the team."""
        return Money(None if self.spend.is_unpriced else self.spend.idle_money, self.currency)

    @property
    def is_idle(self) -> bool:
        """Whether it is idle now."""
        return self.machine is not None and self.machine.state in IDLE


def machine_lines(
    machines: Sequence[MachineNow], spend: Mapping[tuple[int, str], MonthSpend], prices: Mapping[int, HourlyPrice],
    visitor: Visitor,
) -> list[MachineLine]:  # fmt: skip
    """Make the rows; what was spent on machines that are not among ``machines`` stands in one row per currency."""
    known = {one.id: one for one in machines}
    rows: list[MachineLine] = []
    elsewhere: dict[str, list[MonthSpend]] = {}
    for (pk, currency), one in spend.items():
        if pk in known:
            rows.append(_line(known[pk], currency, one, prices.get(pk), visitor))
        else:
            elsewhere.setdefault(currency, []).append(one)
    spent_on = {pk for pk, _currency in spend}
    for machine in machines:
        if machine.id not in spent_on:
            price = prices.get(machine.id)
            currency = price.currency if price else visitor.house.currency
            rows.append(_line(machine, currency, MonthSpend(), price, visitor))
    rows += [MachineLine(None, currency, total_of(parts), None, "") for currency, parts in elsewhere.items()]
    return rows


def _line(
    machine: MachineNow, currency: str, spend: MonthSpend, price: HourlyPrice | None, visitor: Visitor
) -> MachineLine:
    return MachineLine(machine, currency, spend, price, told(machine, price, visitor))


def told(machine: MachineNow, price: HourlyPrice | None, visitor: Visitor) -> str:
    """Say what a machine does now, in the words of `judge`."""
    if not machine.state:
        return ""
    rate: Price | None = (price.per_hour, price.currency) if price else None
    return sentence_of(
        machine.state, machine.reason, machine.since, machine.evidence, price=rate, at=visitor.now,
        zone=visitor.house.zone,
    )  # fmt: skip


def idle_for(machine: MachineNow, visitor: Visitor) -> timedelta | None:
    """Give how long it has been idle; None: it is not."""
    return visitor.now - machine.since if machine.state in IDLE and machine.since else None


def dearest_waste(rows: Iterable[MachineLine], most: int) -> list[MachineLine]:
    """Give the machines whose idle time cost most."""
    wasting = [row for row in rows if row.spend.idle_money > 0]
    return sorted(wasting, key=lambda row: (-row.spend.idle_money, row.name.text))[:most]
