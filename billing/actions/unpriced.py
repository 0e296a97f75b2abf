"""The finding `unpriced`: instances that run and whose price nobody knows. Their cost is unknown, not nothing."""

from __future__ import annotations

from datetime import datetime


def sync_unpriced(*, now: datetime) -> int:
    """Open and close the finding; give how many instances are unpriced at ``now``."""
    return 0
