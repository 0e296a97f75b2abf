"""What machines are judged to be by another idle rule, from the same samples."""

from __future__ import annotations

from datetime import datetime

from common.periods import floor_mark
from fleet.queries.fleet_at import fleet_at
from fleet.queries.judging import judge_gpus, judge_machines


def states_at(at: datetime) -> dict[int, str]:
    """Give the state of every machine at ``at`` by the rules in force, by row id."""
    fleet = fleet_at(floor_mark(at))
    return {pk: str(unit.verdict.state) for pk, unit in judge_machines(fleet, judge_gpus(fleet)).items()}
