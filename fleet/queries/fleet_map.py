"""Every machine with the states of its GPUs now: what the map of the fleet is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection

from fleet.domain.machine_filter import MachineFilter
from fleet.queries.machines import DEVICE_STATES, DEVICES, SILENT_REASONS, machines_sql
from fleet.queries.standing import instance_path
from people.roles import TeamChoice

_BILLED = frozenset({"running", "stopping", "stopped_billed"})
_RUNS = frozenset({"running", "stopping"})


@dataclass(frozen=True)
class MachineCells:
    """A machine. ``cells``: the state of each of its GPUs in their order; those that it has and nobody sees: unknown.

    ``missing``: how many of its GPUs nobody sees, though it runs.
    """

    id: int
    account: str | None
    external_id: str
    team_id: int | None
    model: str
    region: str
    state: str
    provider_state: str
    cells: tuple[str, ...]
    missing: int

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.external_id)

    @property
    def is_billed(self) -> bool:
        """Whether its hours cost something now."""
        return self.provider_state in _BILLED

    @property
    def is_not_seen(self) -> bool:
        """Whether it runs, as far as anybody says, and telemetry shows none of its GPUs."""
        return self.provider_state in _RUNS and self.missing >= len(self.cells)


def fleet_cells(choice: TeamChoice, asked: MachineFilter) -> list[MachineCells]:
    """Read the visible machines that ``asked`` leaves with their devices, in one question, by account and name."""
    sql, values = machines_sql(choice, asked)
    devices = DEVICES.format(where="g.instance_id IN (SELECT id FROM machine)")
    with connection.cursor() as cursor:
        cursor.execute(
            f"""WITH machine AS MATERIALIZED ({sql}), device AS ({devices}), counted AS (
                    SELECT instance_id, string_agg(rank::text, '' ORDER BY place, uuid) FILTER (WHERE is_seen) AS ranks,
                           count(*) AS known
                    FROM device GROUP BY instance_id
                )
                SELECT m.id, m.account, m.external_id, m.team_id, m.model, m.region, m.state, m.provider_state,
                       coalesce(m.gpus, c.known, 0), coalesce(c.ranks, '')
                FROM machine m LEFT JOIN counted c ON c.instance_id = m.id
                ORDER BY m.account NULLS LAST, m.external_id, m.id""",
            [*values, SILENT_REASONS],
        )
        rows = cursor.fetchall()
    return [_machine(row) for row in rows]


def _machine(row: Sequence[Any]) -> MachineCells:
    pk, account, external_id, team_id, model, region, state, provider_state, gpus, ranks = row
    cells, missing = _cells(ranks, gpus, state == "stopped")
    if provider_state not in _RUNS:
        missing = 0
    return MachineCells(pk, account, external_id, team_id, model, region, state, provider_state, cells, missing)


@lru_cache(maxsize=4096)
def _cells(ranks: str, gpus: int, is_stopped: bool) -> tuple[tuple[str, ...], int]:
    """Give the states of the devices, and how many of ``gpus`` are not among those that are seen."""
    seen = tuple(DEVICE_STATES[int(rank)] for rank in ranks)
    missing = max(0, gpus - len(seen))
    return seen + ("stopped" if is_stopped else "unknown",) * missing, missing
