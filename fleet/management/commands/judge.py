"""`judge [--at T]`: every instance with its GPUs, jobs and findings, recomputed from samples."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.clock import BEHIND, real_now
from common.commands import DoorCommand


class Command(DoorCommand):
    """Print what every instance, GPU and job does at a time; writes nothing."""

    help = "Judge every instance, GPU and job at a time, from samples; writes nothing."
    takes_time = True

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Give the list of instances (doors.md, `judge`)."""
        from billing.queries.prices import Prices
        from fleet.queries.verdicts import judge_at
        from fleet.sentences import verdict_sentence
        from people.queries import write_time

        return judge_at(write_time(at, clock=real_now() - BEHIND), Prices(), say=verdict_sentence)

    def text(self, answer: Any) -> str:
        """One line for each instance."""
        return "\n".join(_line(row) for row in answer) or "No instance is known yet."


def _line(row: Mapping[str, Any]) -> str:
    name = f"{row['account'] or '-'}/{row['instance']}"
    return f"{row['state']:<8} {name}  {row['team'] or 'Unassigned'}  {row['sentence']}"
