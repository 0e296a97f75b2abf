"""A finding as it is found now: what, about whom, since when, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from fleet.domain.states import FindingKind

CONTINUES_WITHIN = timedelta(minutes=30)
"""A finding that comes back within this time of closing goes on as the old one."""


@dataclass(frozen=True)
class Found:
    """One finding that holds now.

    ``subject_kind``, ``subject_id`` (row id), ``subject_name`` (what people read) name the subject; ``account`` is ''
    where none is. ``evidence`` are JSON values, copied into the finding; ``facts`` beside them go into the alert
    (price, owner, link). ``not_before``: what opened at or before it was another episode (a restart or work came
    between).
    """

    kind: FindingKind
    subject_kind: str
    subject_id: int
    subject_name: str
    since: datetime
    evidence: Mapping[str, Any] = field(default_factory=dict)
    instance_id: int | None = None
    account: str = ""
    team_id: int | None = None
    owner: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    not_before: datetime | None = None
    link: str = "/"  # the page that shows it

    @property
    def key(self) -> tuple[str, int]:
        """The subject."""
        return self.subject_kind, self.subject_id
