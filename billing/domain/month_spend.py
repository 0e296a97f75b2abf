"""What a team, a day or a whole month cost and did, by state. Values add up; unknown time is never counted as zero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

MONEY_STATES = ("working", "low", "held", "empty", "unknown", "stopped")
TIME_STATES = ("working", "low", "held", "empty", "unknown")
BUSY = ("working", "low")
IDLE = ("held", "empty")
ZERO = Decimal(0)
HOUR_MS = 3_600_000


@dataclass(frozen=True)
class MonthSpend:
    """Money by state and GPU-milliseconds by state, of one currency.

    ``money``: compute by state. ``beside``: storage, network and other. ``list_price``: the part of compute that rests
    on suggested list prices. ``ms``: GPU-milliseconds by state; ``unpriced_ms``: of these, without a price, so that
    their money is missing and not zero; ``unpriced_disk_hours``: likewise hours in which some disk had no price.
    """

    money: Mapping[str, Decimal] = field(default_factory=dict)
    beside: Decimal = ZERO
    list_price: Decimal = ZERO
    ms: Mapping[str, int] = field(default_factory=dict)
    unpriced_ms: int = 0
    unpriced_disk_hours: int = 0

    def __add__(self, other: MonthSpend) -> MonthSpend:
        """Add two of the same currency."""
        return MonthSpend(
            {state: self.of(state) + other.of(state) for state in MONEY_STATES},
            self.beside + other.beside,
            self.list_price + other.list_price,
            {state: self.ms.get(state, 0) + other.ms.get(state, 0) for state in TIME_STATES},
            self.unpriced_ms + other.unpriced_ms,
            self.unpriced_disk_hours + other.unpriced_disk_hours,
        )

    def of(self, *states: str) -> Decimal:
        """Give the money of some states."""
        return sum((self.money.get(state, ZERO) for state in states), ZERO)

    def hours(self, *states: str) -> float:
        """Give the GPU-hours of some states."""
        return sum(self.ms.get(state, 0) for state in states) / HOUR_MS

    @property
    def total(self) -> Decimal:
        """All money that has a price."""
        return self.of(*MONEY_STATES) + self.beside

    @property
    def busy_money(self) -> Decimal:
        """Money of working and low."""
        return self.of(*BUSY)

    @property
    def idle_money(self) -> Decimal:
        """Money of held and empty."""
        return self.of(*IDLE)

    @property
    def unknown_money(self) -> Decimal:
        """Money of time of which nothing is known."""
        return self.of("unknown")

    @property
    def all_hours(self) -> float:
        """All GPU-hours, seen or not."""
        return self.hours(*TIME_STATES)

    @property
    def seen_hours(self) -> float:
        """GPU-hours of which we know what the GPU did."""
        return self.hours(*BUSY, *IDLE)

    @property
    def unpriced_hours(self) -> float:
        """GPU-hours without a price."""
        return self.unpriced_ms / HOUR_MS

    @property
    def working_pct(self) -> float | None:
        """Working share (0 to 100) of the GPU-hours that were seen; None when none was."""
        return 100 * self.hours(*BUSY) / self.seen_hours if self.seen_hours else None

    @property
    def list_price_pct(self) -> float | None:
        """Share (0 to 100) of the money that rests on list prices; None without money."""
        return float(100 * self.list_price / self.total) if self.total > 0 else None

    @property
    def is_unpriced(self) -> bool:
        """Whether nothing here has a price, so that the total means nothing."""
        return self.total == 0 and (self.unpriced_ms > 0 or self.unpriced_disk_hours > 0)

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither money nor time."""
        return self.total == 0 and self.all_hours == 0 and not self.unpriced_disk_hours


def total_of(parts: Iterable[MonthSpend]) -> MonthSpend:
    """Add up all parts."""
    result = MonthSpend()
    for part in parts:
        result = result + part
    return result
