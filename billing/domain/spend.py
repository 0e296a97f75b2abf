"""Spend as every door shows it: rows that sum to the totals exactly, unknown kept apart from nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from billing.domain.month_spend import MonthSpend
from common.errors import BadInput, Where
from common.money import plain
from common.periods import Period, iso

GROUPINGS = (
    "team", "owner", "cost_center", "account", "sub_account", "provider", "instance", "job", "gpu_model", "sku", "day",
    "month",
)  # fmt: skip
BASES = ("effective", "billed")
CUTS = ("usage", "invoice")
TIMES = ("working", "low", "held", "empty", "unknown")
STATES = (*TIMES, "stopped")
KINDS = ("storage", "network", "other")
MS_PER_HOUR = 3_600_000
ZERO = Decimal(0)


def read_groupings(text: str) -> tuple[str, ...]:
    """Read ``team,day``; raises BadInput (bad_group_by) with the nearest right word."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in GROUPINGS:
            near = get_close_matches(name, GROUPINGS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(GROUPINGS)}."
            raise BadInput("bad_group_by", f"group_by: there is no {name!r}.", hint=hint, where=Where(key="group_by"))
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class SpendRow:
    """One group in one currency. ``states``, ``kinds``: money; ``times``: GPU-milliseconds; key values may be None.

    ``unpriced_ms``: running time without a price, whose money is in no amount; ``unpriced_disk_hours`` likewise.
    """

    key: Mapping[str, str | None]
    currency: str
    states: Mapping[str, Decimal]
    kinds: Mapping[str, Decimal]
    times: Mapping[str, int]
    unpriced_ms: int = 0
    unpriced_disk_hours: int = 0
    list_price_amount: Decimal = ZERO

    @property
    def compute(self) -> Decimal | None:
        """Money of compute; None when time has passed and none of it has a price."""
        amount = sum(self.states.values(), ZERO)
        return None if amount == 0 and self.unpriced_ms > 0 else amount

    @property
    def storage(self) -> Decimal | None:
        """Money of disks; None when there are some and none has a price."""
        amount = self.kinds.get("storage", ZERO)
        return None if amount == 0 and self.unpriced_disk_hours > 0 else amount

    @property
    def total(self) -> Decimal | None:
        """All money that has a price; None when nothing has."""
        parts = [self.compute, self.storage, *(self.kinds.get(kind, ZERO) for kind in KINDS[1:])]
        known = [part for part in parts if part is not None]
        return sum(known, ZERO) if len(known) == len(parts) or any(known) else None

    def as_month_spend(self) -> MonthSpend:
        """Give the row without its key, as pages add it up."""
        beside = sum((self.kinds.get(kind, ZERO) for kind in KINDS), ZERO)
        return MonthSpend(
            self.states, beside, self.list_price_amount, self.times, self.unpriced_ms, self.unpriced_disk_hours
        )

    @property
    def special(self) -> str | None:
        """`unassigned` where grouping by team finds none."""
        return "unassigned" if "team" in self.key and self.key["team"] is None else None

    def as_json(self) -> dict[str, Any]:
        """Give the row of doors.md, with what is unpriced and what rests on list prices beside it."""
        is_priced = self.compute is not None
        return {
            "key": dict(self.key),
            "special": self.special,
            "currency": self.currency,
            "gross": plain(self.total),
            "credits": plain(ZERO),
            "billed": plain(ZERO),
            "provisional": plain(self.total),
            "total": plain(self.total),
            "by_kind": {
                "compute": plain(self.compute),
                "storage": plain(self.storage),
                **{kind: plain(self.kinds.get(kind, ZERO)) for kind in KINDS[1:]},
            },
            "by_state": {state: plain(self.states.get(state, ZERO)) if is_priced else None for state in STATES},
            "gpu_hours": {state: hours(self.times.get(state, 0)) for state in TIMES},
            "unpriced_gpu_hours": hours(self.unpriced_ms),
            "unpriced_disk_hours": self.unpriced_disk_hours,
            "list_price": plain(self.list_price_amount),
        }


@dataclass(frozen=True)
class Spend:
    """The answer of `spend`: rows in order of key, and what they rest on."""

    period: Period
    time_zone: str
    basis: str
    cut: str
    rows: tuple[SpendRow, ...]

    @property
    def totals(self) -> dict[str, Decimal]:
        """Give the total per currency: never one over several."""
        return totals_of(self.rows)

    @property
    def billed_share_pct(self) -> float | None:
        """How much of the total is billed; None where there is nothing to bill. No bill is in yet."""
        return 0.0 if any(self.totals.values()) else None

    def as_json(self) -> dict[str, Any]:
        """Give the document of doors.md."""
        totals = self.totals
        return {
            "period": {"start": iso(self.period.start), "end": iso(self.period.end), "time_zone": self.time_zone},
            "basis": self.basis,
            "cut": self.cut,
            "rows": [row.as_json() for row in self.rows],
            "totals": {currency: plain(amount) for currency, amount in totals.items()},
            "billed_share_pct": self.billed_share_pct,
        }


def totals_of(rows: Iterable[SpendRow]) -> dict[str, Decimal]:
    """Add up what has a price, per currency."""
    totals: dict[str, Decimal] = {}
    for row in rows:
        if row.total is not None:
            totals[row.currency] = totals.get(row.currency, ZERO) + row.total
    return dict(sorted(totals.items()))


def hours(milliseconds: int) -> str:
    """Print GPU-hours, to a millionth."""
    text = plain((Decimal(milliseconds) / MS_PER_HOUR).quantize(Decimal("0.000001")))
    assert text is not None, "a number is known"
    return text
