"""Whether what we decide leaves this machine: real or simulated effects (rule 4, the clock)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

NEAR = timedelta(minutes=15)  # further from the real clock, only test doubles are reached


@dataclass(frozen=True)
class Effects:
    """``simulated``: calls and messages become rows marked so, nothing leaves.

    ``real`` and ``far_from_clock``: only channels and accounts with ``test: true`` are reached, the rest is simulated.
    """

    kind: Literal["real", "simulated"]
    far_from_clock: bool = False

    def leaves(self, is_test: bool) -> bool:
        """Say whether an effect towards a channel or account really goes out."""
        return self.kind == "real" and (is_test or not self.far_from_clock)


SIMULATED = Effects("simulated")


def real_effects(*, now: datetime, clock: datetime) -> Effects:
    """Give real effects for a pass at ``now`` while the real clock shows ``clock``."""
    return Effects("real", far_from_clock=abs(now - clock) > NEAR)
