"""What goes wrong in the story, in hours since its beginning (a midnight). Open ends last until told otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from demo.domain.machines import MACHINES

DAYS = 30
"""How much history there is when the demo is first shown."""


class What(StrEnum):
    """Kinds of incidents."""

    OUTAGE = "outage"  # the collector is down: no data, and nobody is idle for that
    FILES = "files"  # the file server hangs: everything that reads from it looks idle
    HANG = "hang"  # a job spins: utilisation 100, nothing computed, little power
    LOST = "lost"  # a GPU fell off the bus
    LEFT = "left"  # nothing runs there any more
    FORGOTTEN = "forgotten"  # a notebook holds memory and does nothing
    STOPPED = "stopped"  # the machine is stopped; its disk is not
    COUNTERS = "counters"  # the profiling counters read 0 while work goes on
    BLANK = "blank"  # the exporter writes the blanks that mean "no reading"
    SLOW = "slow"  # the exporters are scraped every few minutes only
    RENAMED = "renamed"  # the exporter gives the host another name
    DEARER = "dearer"  # the provider asks for more from now on


@dataclass(frozen=True)
class Incident:
    """``hosts`` are struck from ``since`` to ``until``; ``gpu``: only this one of the machine.

    ``cuts_off``: the source itself does not answer meanwhile.
    """

    what: What
    since: float
    until: float | None
    hosts: frozenset[str]
    gpu: int | None = None
    cuts_off: bool = False

    def ends(self) -> float:
        """Give the end, infinity when there is none."""
        return float("inf") if self.until is None else self.until

    def covers(self, hours: float) -> bool:
        """Whether it lasts at ``hours`` since the story's beginning."""
        return self.since < hours <= self.ends()


def _at(day: int, hour: int, minute: int = 0) -> float:
    return day * 24 + hour + minute / 60


def _of(account: str) -> frozenset[str]:
    return frozenset(machine.host for machine in MACHINES if machine.account == account)


EVERYWHERE = frozenset(machine.host for machine in MACHINES)
INCIDENTS = (
    Incident(What.STOPPED, _at(20, 18), None, frozenset({"aws-spc-02"})),
    Incident(What.LEFT, _at(23, 16, 20), None, frozenset({"cw-fnd-06"})),
    Incident(What.FILES, _at(25, 14), _at(25, 14, 50), _of("coreweave-train")),
    Incident(What.OUTAGE, _at(27, 10, 20), _at(27, 11), EVERYWHERE),
    Incident(What.LEFT, _at(28, 7, 40), None, frozenset({"aws-misc-01"})),
    Incident(What.LOST, _at(29, 16, 5), None, frozenset({"aws-vis-02"}), gpu=5),
    Incident(What.FORGOTTEN, _at(29, 17, 40), None, frozenset({"lam-apr-03"})),
    Incident(What.HANG, _at(29, 21, 30), None, frozenset({"cw-pst-02"})),
)
