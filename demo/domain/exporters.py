"""What the exporter of a machine says of what its GPUs do: when it is scraped, under which name, and its own faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demo.domain.incidents import Incident, What
from demo.domain.machines import Machine
from demo.domain.noise import key_of
from demo.domain.scripts import NEW_NAME
from demo.domain.signals import Matrix
from demo.domain.story import Phase, Play, play, struck_at
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.signals import Signal

SCRAPE_SECONDS = 60
SLOW_EVERY = 3
"""While scraping is slow, one of so many scrapes comes through."""
PROFILING = (Signal.GR_ENGINE, Signal.SM_ACTIVE, Signal.TENSOR, Signal.DRAM)
ACTIVITY = (Signal.GPU_UTIL, *PROFILING, Signal.ENCODER, Signal.DECODER)
Marks = NDArray[np.int64]
Flags = NDArray[np.bool_]
Signals = dict[Signal, Matrix]


@dataclass(frozen=True)
class Report:
    """What is read of a machine in the samples that end at ``marks``.

    ``seen`` [GPUs, marks]: there is data. ``points`` [marks, scrapes]: which scrapes came through. ``renamed``,
    ``zeroed``, ``blanked`` [marks]: what the exporter gets wrong then.
    """

    machine: Machine
    marks: Marks
    played: Play
    seen: Flags
    points: Flags
    renamed: Flags
    zeroed: Flags
    blanked: Flags

    def hosts(self) -> Iterator[tuple[str, Flags]]:
        """Give the names that the exporter goes by, each with the marks [marks] at which it does."""
        yield self.machine.host, ~self.renamed
        if self.renamed.any():
            yield NEW_NAME, self.renamed

    def times(self, chosen: Flags) -> NDArray[np.float64]:
        """Give the times of the scrapes that came through in the chosen samples [marks]."""
        at = self.marks[:, None] + _steps(self.machine)[None, :]
        return np.asarray(at[self.points & chosen[:, None]], dtype=np.float64)

    def mend(self, mean: Signals, peak: Signals) -> tuple[Signals, Signals]:
        """Put the exporter's faults into mean and peak [GPUs, marks]: counters at 0, readings that are none."""
        for values in (mean, peak):
            for signal in PROFILING:
                values[signal][:, self.zeroed] *= 0  # what is missing stays so
            for signal in ACTIVITY:
                values[signal][:, self.blanked] = np.nan
        return mean, peak

    def blanks(self, index: int, after: float) -> Counter[tuple[str, str, int]]:
        """Count the dropped values of one GPU in the samples after a time, as a reader of real metrics does."""
        found: Counter[tuple[str, str, int]] = Counter()
        for mark in np.flatnonzero(self.blanked & self.seen[index] & (self.marks > after)):
            day, points = int((self.marks[mark] - 1) // 86_400), int(self.points[mark].sum())
            found.update({("sentinel", str(signal), day): points for signal in ACTIVITY})
        return found


def report(machine: Machine, marks: Marks, start: int, incidents: Sequence[Incident]) -> Report:
    """Tell what a machine's exporter says in the samples that end at ``marks``; the story begins at ``start``."""
    mine = [one for one in incidents if machine.host in one.hosts]

    def at(what: What) -> Flags:
        flags = np.zeros(len(marks), dtype=np.bool_)
        for one in mine:
            if one.what is what:
                flags |= struck_at(one, marks, start)
        return flags

    played = play(machine, marks, start, mine)
    steps = _steps(machine)
    number = (marks[:, None] + steps[None, :]) // SCRAPE_SECONDS
    return Report(
        machine, marks, played, seen=np.asarray(played.phase != Phase.ABSENT),
        points=np.asarray(~at(What.SLOW)[:, None] | (number % SLOW_EVERY == 0)),
        renamed=at(What.RENAMED), zeroed=at(What.COUNTERS), blanked=at(What.BLANK),
    )  # fmt: skip


def _steps(machine: Machine) -> NDArray[np.int64]:
    """Give when a machine is scraped, in seconds before the end of a sample."""
    first = key_of(machine.host) % SCRAPE_SECONDS + 1
    return np.arange(first, STEP_SECONDS + 1, SCRAPE_SECONDS) - STEP_SECONDS
