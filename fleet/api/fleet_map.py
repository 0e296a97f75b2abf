"""The map of the fleet: every machine with the states of its GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from common.pages import Page, Slice
from fleet.domain.machine_filter import SEEN_CHOICES, STATES, MachineFilter
from fleet.queries.fleet_map import MachineCells, fleet_cells
from people.api.documented import listed
from people.api.parameters import TEAM, Parameter
from people.api.routes import ListRoute, whole_page
from people.api.shapes import several, text, whole


class MachineCellsShape(serializers.Serializer[Any]):
    """A machine of the map."""

    instance = text()
    account = text(null=True)
    team = text(null=True)
    gpu_model = text(null=True)
    region = text(null=True)
    state = text()
    instance_state = text("by its provider's word")
    gpus = several(serializers.CharField(), "the state of each GPU, in their order; those that nobody sees are unknown")
    missing = whole("how many of its GPUs nobody sees, though it runs")


@listed(MachineCellsShape, "Machines with the states of their GPUs, by account and name: the map of the fleet.")
class FleetMap(ListRoute):
    """The map of the fleet."""

    own_parameters = (
        Parameter("account", "only of this provider account; `-` for hosts that no account knows"),
        Parameter("gpu_model", "only of this GPU model"),
        Parameter("region", "only in this region"),
        Parameter("state", "only what is in this state", choices=STATES),
        Parameter("seen", "no: it runs and nobody sees a GPU of it; missing: fewer than it has", choices=SEEN_CHOICES),
        TEAM,
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the visible machines."""
        names = {"account": "account", "gpu_model": "model", "region": "region", "state": "state", "seen": "seen"}
        narrow = MachineFilter(**{field: asked[name] for name, field in names.items() if name in asked})
        machines = fleet_cells(self.rows_of(asked), narrow)
        start = part.after or 0
        shown = [self._document(one) for one in machines[start : start + part.limit + 1]]
        return whole_page([*({} for _ in range(min(start, len(machines)))), *shown], part)

    def _document(self, one: MachineCells) -> dict[str, Any]:
        return {
            "instance": one.external_id,
            "account": one.account,
            "team": self.team_names().get(one.team_id or 0),
            "gpu_model": one.model or None,
            "region": one.region or None,
            "state": one.state,
            "instance_state": one.provider_state,
            "gpus": list(one.cells),
            "missing": one.missing,
        }
