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


@dataclass(frozen=True)
class MonthSpend:
    """Money by state and GPU-minutes by state, of one currency.

    ``money``: compute by state. ``beside``: storage, network and other. ``minutes``: GPU-minutes by state.
    ``minutes_unpriced``: of these, without a price, so that their money is missing and not zero.
    """

    money: Mapping[str, Decimal] = field(default_factory=dict)
    beside: Decimal = ZERO
    minutes: Mapping[str, float] = field(default_factory=dict)
    minutes_unpriced: float = 0.0

    def __add__(self, other: MonthSpend) -> MonthSpend:
        """Add two of the same currency."""
        return MonthSpend(
            {state: self.of(state) + other.of(state) for state in MONEY_STATES},
            self.beside + other.beside,
            {state: self.time(state) + other.time(state) for state in TIME_STATES},
            self.minutes_unpriced + other.minutes_unpriced,
        )

    def of(self, *states: str) -> Decimal:
        """Give the money of some states."""
        return sum((self.money.get(state, ZERO) for state in states), ZERO)

    def time(self, *states: str) -> float:
        """Give the GPU-minutes of some states."""
        return sum(self.minutes.get(state, 0.0) for state in states)

    @property
    def total(self) -> Decimal:
        """All money that has a price."""
        return self.of(*MONEY_STATES) + self.beside

    @property
    def all_minutes(self) -> float:
        """All GPU-minutes, seen or not."""
        return self.time(*TIME_STATES)

    @property
    def seen_minutes(self) -> float:
        """GPU-minutes of which we know what the GPU did."""
        return self.time(*BUSY, *IDLE)

    @property
    def working_pct(self) -> float | None:
        """Working share (0 to 100) of the GPU-minutes that were seen; None when none was."""
        return 100 * self.time(*BUSY) / self.seen_minutes if self.seen_minutes else None

    @property
    def is_unpriced(self) -> bool:
        """Whether nothing here has a price, so that the total means nothing."""
        return self.total == 0 and self.minutes_unpriced > 0

    @property
    def is_nothing(self) -> bool:
        """Whether there is neither money nor time."""
        return self.total == 0 and self.all_minutes == 0


def total_of(parts: Iterable[MonthSpend]) -> MonthSpend:
    """Add up all parts."""
    result = MonthSpend()
    for part in parts:
        result = result + part
    return result
