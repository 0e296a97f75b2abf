"""What is told: an occurrence, and the words that alerts and routes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TOLD = frozenset(
    {
        "anomaly", "balance", "breaker", "budget", "channel", "gpu_lost", "idle", "release", "source", "suspected_hang",
        "target_down",
    }
)  # fmt: skip
"""Kinds that reach people by any route that fits; another kind does only where a route names it."""

TOLD_WHEN_OVER = frozenset({"source", "channel"})
"""Kinds whose end is told too, to those who were told of the beginning."""


@dataclass(frozen=True)
class Occurrence:
    """Something that deserves an alert. Known by (rule, subject_kind, subject, account, episode).

    ``kind`` is a word of ``routes.kinds``; ``episode`` tells this time from another (the `since` it began with);
    ``facts`` are JSON values from which every text is rendered: no sentence, no secret.
    """

    rule: str
    kind: str
    subject_kind: str
    subject: str
    account: str
    team_id: int | None
    owner: str
    episode: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    threshold: str = ""
