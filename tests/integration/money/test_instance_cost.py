"""What a machine cost, for whoever asks: nothing of the time in which it was another team's."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from billing.queries.instance_cost import instance_cost
from common.periods import Period
from fleet.models import Instance
from people.models import Team
from people.roles import TeamChoice
from tests.support.declared import apply_text, utc
from tests.support.money_world import World

pytestmark = pytest.mark.django_db
TEXT = """
teams: [{name: red}, {name: blue}]
ownership: [{team_from: {tag: team}}]
accounts:
  - name: colo
    kind: static
    provider: aws
    instances:
      - id: i-1
        host: n1
        gpu_count: 1
        state: running
        launched_at: 2025-06-03T00:00:00Z
        price_per_hour: "1.00"
        disks: [{size_gb: 730, price_per_gb_month: "2.00", from: 2025-06-03T00:00:00Z}]
        tags: {team: TEAM}
"""


def test_a_machine_that_changed_its_team_shows_each_team_its_own_part(world: World, tmp_path: Path) -> None:
    apply_text(tmp_path, TEXT.replace("TEAM", "red"), now=utc("2025-06-03T00:00:00Z"))
    apply_text(tmp_path, TEXT.replace("TEAM", "blue"), now=utc("2025-06-03T06:00:00Z"))
    world.settle("2025-06-03T10:00")
    june = Period(utc("2025-06-01T00:00:00Z"), utc("2025-07-01T00:00:00Z"))
    box = Instance.objects.get()

    def parts(choice: TeamChoice) -> tuple[Decimal, Decimal]:
        spend = instance_cost(box.pk, june, choice)["USD"]
        return spend.of("unknown"), spend.beside

    red, blue = (frozenset({Team.objects.get(name=name).pk}) for name in ("red", "blue"))
    assert parts(TeamChoice(red, unassigned=False)) == (Decimal(6), Decimal(12))
    assert parts(TeamChoice(blue, unassigned=False)) == (Decimal(4), Decimal(8))
    assert parts(TeamChoice(None, unassigned=True)) == (Decimal(10), Decimal(20))
