"""Pages of long lists by the key of their last row: as fast at the end as at the start, and stable while rows come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Document = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """Some documents of a list; ``last`` is the key to go on after, None at the end."""

    items: list[Document]
    last: int | None


@dataclass(frozen=True)
class Slice:
    """What is asked of a list: at most ``limit`` rows ``after`` a key (None: from the start)."""

    limit: int
    after: int | None = None

    def page(self, rows: Sequence[tuple[int, Document]]) -> Page:
        """Make a page of (key, document) rows, of which one more than ``limit`` was read."""
        kept = rows[: self.limit]
        return Page([document for _, document in kept], kept[-1][0] if len(rows) > self.limit else None)
