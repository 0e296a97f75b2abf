"""Write OpenMetrics text for back-filling a real Prometheus in tests: series as functions of time, in few words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

Value = float | Callable[[datetime], float | None]


def at(text: str) -> datetime:
    """Read `2025-06-03 09:00` as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class History:
    """Collects series; ``text()`` gives the file."""

    families: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self, metric: str, labels: dict[str, str], value: Value, since: str, until: str, *, every: int = 300
    ) -> History:
        """Add points of one series from ``since`` to ``until`` inclusive; a None value leaves the point out."""
        moment, end = at(since), at(until)
        inner = ",".join(f'{name}="{text}"' for name, text in labels.items())
        lines = self.families.setdefault(metric, [])
        while moment <= end:
            number = value(moment) if callable(value) else value
            if number is not None:
                lines.append(f"{metric}{{{inner}}} {number} {int(moment.timestamp())}")
            moment += timedelta(seconds=every)
        return self

    def text(self) -> str:
        """Give the OpenMetrics document."""
        parts = []
        for metric, lines in self.families.items():
            parts += [f"# TYPE {metric} gauge", *lines]
        return "\n".join([*parts, "# EOF", ""])


def uuid(number: int) -> str:
    """Give a made-up GPU UUID."""
    return f"GPU-00000000-0000-0000-0000-{number:012d}"


def steps(*pairs: tuple[str, float | None]) -> Callable[[datetime], float | None]:
    """Give a value that changes at times: ``steps(("2025-06-03 08:00", 92), ("2025-06-03 09:05", 0))``."""
    changes: Sequence[tuple[datetime, float | None]] = [(at(text), number) for text, number in pairs]

    def value(moment: datetime) -> float | None:
        current: float | None = None
        for start, number in changes:
            if start <= moment:
                current = number
        return current

    return value


def instances(*rows: dict[str, object]) -> list[dict[str, object]]:
    """Give static instances with what every story has in common."""
    common: dict[str, object] = {
        "gpu_count": 1,
        "state": "running",
        "launched_at": "2025-06-02T08:00:00Z",
        "last_started_at": "2025-06-02T08:00:00Z",
        "purchase_option": "on_demand",
    }
    return [{**common, **row} for row in rows]


def fleet(url: str, machines: Iterable[dict[str, object]] = (), **more: object) -> dict[str, object]:
    """Give the declared form of a small fleet whose source is ``url``."""
    document: dict[str, object] = {
        "organization": {"name": "Story", "currency": "USD", "time_zone": "UTC"},
        "teams": [{"name": "nlp"}, {"name": "vision"}],
        "ownership": [{"team_from": {"tag": "team"}}, {"team_from": {"label": "namespace"}}],
        "sources": [{"name": "main", "kind": "prometheus", "url": url}],
    }
    rows = list(machines)
    if rows:
        document["accounts"] = [{"name": "acct", "kind": "static", "provider": "aws", "instances": rows}]
    return document | more
