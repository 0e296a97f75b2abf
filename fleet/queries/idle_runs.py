"""Idle runs as folds tell them, by the organisation's rule with its start dates. Reads only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from common.periods import BEGINNING
from fleet.domain.idle_rule import IdleRule
from fleet.domain.samples import STEP_SECONDS
from fleet.queries.fleet_at import FleetAt
from fleet.queries.folding import Piece
from fleet.queries.policies import IDLE_DEFAULTS

Run = tuple[int, int | None]  # since, until (None: goes on); epoch seconds


@dataclass(frozen=True)
class RuleSpan:
    """The organisation's rule while it holds: for the marks in (start, end]; ``end`` None: still."""

    rule: IdleRule
    start: int
    end: int | None


def rule_spans(fleet: FleetAt) -> list[RuleSpan]:
    """The versions of the organisation's rule that began before the fleet's mark, in order of time, cut to the grid."""
    versions: list[tuple[int, Mapping[str, Any]]] = [(int(at.timestamp()), spec) for at, spec in fleet.idle_versions]
    if not versions or versions[0][0] > int(BEGINNING.timestamp()):
        versions.insert(0, (int(BEGINNING.timestamp()), {}))
    starts = [at // STEP_SECONDS * STEP_SECONDS for at, _ in versions]
    ends: list[int | None] = [*starts[1:], None]
    return [
        RuleSpan(IdleRule.from_spec({**IDLE_DEFAULTS, **spec}), start, end)
        for start, end, (_, spec) in zip(starts, ends, versions, strict=True)
        if start < fleet.mark
    ]


@dataclass
class RunBook:
    """The runs of GPUs (row numbers) that pieces of folds tell, one piece after another in order of time.

    ``opens``: the rule holds for the marks after it, so that no run begins before.
    """

    opens: int
    runs: defaultdict[int, list[Run]] = field(default_factory=lambda: defaultdict(list))

    def add(self, piece: Piece) -> None:
        """Read one piece: where runs were open before it, where they open and end."""
        track = piece.track
        before = piece.before.rows
        for place in np.flatnonzero(before["in_run"]):
            row = int(piece.rows[place])
            if not self.runs[row] or self.runs[row][-1][1] is not None:
                self.runs[row].append((self._since(before["since"][place]), None))
        was = np.concatenate([before["in_run"][:, None], track.in_run[:, :-1]], axis=1)
        for place, column in zip(*np.nonzero(was != track.in_run), strict=True):
            runs = self.runs[int(piece.rows[place])]
            if track.in_run[place, column]:
                runs.append((self._since(track.since[place, column]), None))
            else:
                runs[-1] = (runs[-1][0], int(track.marks[column]) - STEP_SECONDS)

    def close(self, at: int) -> None:
        """End what is open: the rule ends here."""
        for runs in self.runs.values():
            if runs and runs[-1][1] is None:
                runs[-1] = (runs[-1][0], at)

    def _since(self, since: float) -> int:
        return max(int(since), self.opens)


def gpu_runs(fleet: FleetAt, books: Iterable[RunBook]) -> set[tuple[int, int, int | None]]:
    """All runs as (gpu id, since, until); empty ones are left out."""
    found: set[tuple[int, int, int | None]] = set()
    for book in books:
        for row, runs in book.runs.items():
            gpu = fleet.gpus[row].id
            found.update((gpu, since, until) for since, until in runs if until is None or until > since)
    return found
