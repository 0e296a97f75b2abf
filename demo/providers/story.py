"""The adapter: accounts of the story as `fleet.domain.ports.InstanceProvider`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from demo.domain.inventory import as_told, next_change
from fleet.domain.inventory import ObservedInstance
from fleet.providers.static import StaticProvider


class StoryProvider:
    """Lists what the declaration lists, as the incidents that were started have changed it."""

    def __init__(self) -> None:
        self._declared = StaticProvider()

    def list_instances(self, provider: str, spec: Mapping[str, Any], *, now: datetime) -> list[ObservedInstance]:
        """Give every instance as it is at ``now``."""
        return self._declared.list_instances(provider, {**spec, "instances": as_told(spec, now)}, now=now)

    def same_until(self, spec: Mapping[str, Any], *, now: datetime) -> datetime | None:
        """Give the next time at which the declaration or an incident changes something."""
        times = (self._declared.same_until(spec, now=now), next_change(spec, now))
        return min(at for at in times if at is not None)
