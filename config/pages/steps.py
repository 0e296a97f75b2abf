"""The first run in five steps; each is told by what the database holds, so that one can leave and come back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from billing.queries.priced_now import Priced, priced_now
from fleet.queries.first_run import Progress, progress
from people.queries.persons import count_people
from people.queries.team_list import TeamRow, team_rows

STEPS = ("source", "gpus", "teams", "prices", "people")


@dataclass(frozen=True)
class FirstRun:
    """What each step looks at. ``done``: the steps that are; ``now``: the first that is not, "" at the end."""

    progress: Progress
    priced: Priced
    teams: list[TeamRow]
    found_teams: list[TeamRow]
    people: int
    invited: int
    done: frozenset[str]

    @property
    def now(self) -> str:
        """The step that comes next."""
        return next((step for step in STEPS if step not in self.done), "")

    @property
    def is_over(self) -> bool:
        """Whether nothing is missing."""
        return not self.now


def first_run(now: datetime) -> FirstRun:
    """Read all steps."""
    found, priced, teams = progress(), priced_now(now), team_rows()
    people, invited = count_people()
    from_telemetry = [team for team in teams if team.origin == "telemetry"]
    holds = {
        "source": found.is_connected,
        "gpus": found.gpus > 0,
        "teams": bool(teams) and not from_telemetry,
        "prices": priced.machines > 0 and not priced.unpriced,
        "people": people > 1 or invited > 0,
    }
    done = frozenset(step for step, is_done in holds.items() if is_done)
    return FirstRun(found, priced, teams, from_telemetry, people, invited, done)
