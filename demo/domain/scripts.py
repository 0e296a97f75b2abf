"""The incidents that can be started in the running demo: what each is, whom it strikes, how long it lasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from common.periods import iso, parse_moment
from demo.domain.incidents import EVERYWHERE, Incident, What
from demo.domain.machines import MACHINES

DEARER_PCT = 12
"""How much more the provider asks while its price is up."""
NEW_NAME = "ip-10-20-3-17"
"""What the exporter calls a host that was renamed."""


@dataclass(frozen=True)
class Script:
    """An incident that can be started. It strikes all of ``hosts``, or, ``picks``: the first of them that works then.

    ``account``: whose inventory it changes too, empty for none. ``minutes``: after these it ends by itself.
    """

    name: str
    what: What
    minutes: int
    hosts: tuple[str, ...]
    picks: bool = False
    gpu: int | None = None
    account: str = ""
    cuts_off: bool = False


def _named(start: str) -> tuple[str, ...]:
    return tuple(machine.host for machine in MACHINES if machine.host.startswith(start))


SCRIPTS = (
    Script("left", What.LEFT, 120, ("fra-dat-02", "fra-dat-03", "fra-dat-01", "fra-dat-04"), picks=True),
    Script("collector", What.OUTAGE, 40, tuple(sorted(EVERYWHERE)), cuts_off=True),
    Script("files", What.FILES, 50, _named("cw-")),
    Script("hang", What.HANG, 120, ("aws-spc-01", "aws-vis-01", "lam-rob-02", "cw-pst-01"), picks=True),
    Script("lost", What.LOST, 120, ("aws-inf-02",), gpu=5),
    Script("counters", What.COUNTERS, 90, _named("aws-inf-")),
    Script("blank", What.BLANK, 120, ("lam-rob-01",)),
    Script("slow", What.SLOW, 60, _named("lam-")),
    Script("renamed", What.RENAMED, 90, ("aws-inf-01",)),
    Script("stopped", What.STOPPED, 90, ("aws-inf-04",), account="aws-prod"),
    Script("dearer", What.DEARER, 180, _named("cw-"), account="coreweave-train"),
)
BY_NAME: Mapping[str, Script] = {one.name: one for one in SCRIPTS}


@dataclass(frozen=True)
class Started:
    """A run of a script: half-open [since, until), ``until`` moved forward when somebody ends it."""

    name: str
    since: datetime
    until: datetime
    hosts: tuple[str, ...]
    by: str

    @property
    def script(self) -> Script:
        """What is run."""
        return BY_NAME[self.name]

    def is_on(self, now: datetime) -> bool:
        """Whether it lasts at ``now``."""
        return self.since <= now < self.until

    def incident(self, start: datetime) -> Incident:
        """Give it as the story tells it, in hours since its beginning at ``start``."""
        script, hour = self.script, timedelta(hours=1)
        return Incident(
            script.what, (self.since - start) / hour, (self.until - start) / hour, frozenset(self.hosts), script.gpu,
            script.cuts_off,
        )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Give it as a declaration keeps it."""
        times = {"since": iso(self.since), "until": iso(self.until)}
        return {"name": self.name, **times, "hosts": list(self.hosts), "by": self.by}


def read_started(spec: Mapping[str, Any]) -> tuple[Started, ...]:
    """Read the runs that a declaration (of the source, of an account) keeps; of a script that is no more none."""
    return tuple(
        Started(one["name"], parse_moment(one["since"]), parse_moment(one["until"]), tuple(one["hosts"]), one["by"])
        for one in spec.get("incidents") or []
        if one["name"] in BY_NAME
    )
