"""Which machines a list, a map or a file is about; every door that shows machines narrows them by the same values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fleet.domain.states import Reason, State

NONE = "-"  # an account or team that a machine does not have
NOT_SEEN, GPUS_MISSING = "no", "missing"
SEEN_CHOICES = (NOT_SEEN, GPUS_MISSING)
SILENT = frozenset({Reason.NO_DATA, Reason.STALE, Reason.NEVER_SEEN})
STATES = tuple(State)


@dataclass(frozen=True)
class MachineFilter:
    """Empty text narrows nothing. ``account`` "-": hosts that no account knows. ``model`` "-": not known.

    ``seen``: "no": it runs and no telemetry shows a GPU of it; "missing": fewer GPUs report than it has. ``finding``: a
    kind of which one is open. ``words``: all of them stand in name, host, account, owner or type.
    """

    account: str = ""
    model: str = ""
    region: str = ""
    state: str = ""
    seen: str = ""
    finding: str = ""
    words: tuple[str, ...] = ()

    def within(self, **narrower: str) -> MachineFilter:
        """Give a filter that is narrower by some values."""
        return replace(self, **narrower)  # type: ignore[arg-type]
