"""Evidence as JSON values: what is copied into verdicts and findings, because samples go and disputes come later."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from common.periods import iso
from fleet.domain.evidence import MEMORY_WORDS
from fleet.domain.idle_rule import NEVER
from fleet.queries.fleet_at import FleetAt
from fleet.queries.judging import Judged, Unit


def gpu_evidence(fleet: FleetAt, judged: Judged, row: int) -> dict[str, Any]:
    """What the verdict of one GPU was made from."""
    fold = judged.fold[row]
    seen_at = float(fold["seen_at"])
    return {
        "window_minutes": int(judged.window_seconds[row]) // 60,
        "coverage_pct": percent(judged.coverage_pct[row]),
        "peak_pct": percent(judged.peak_pct[row]),
        "mean_pct": percent(judged.mean_pct[row]),
        "signal": judged.signal_name(row),
        "points": int(judged.points[row]),
        "interval_seconds": int(fold["interval"]) or None,
        "newest_point_at": iso(datetime.fromtimestamp(seen_at, UTC)) if seen_at > NEVER else None,
        "memory": MEMORY_WORDS[judged.memory[row]],
        "minutes": whole(float(fold["minutes"])),
        "threshold_pct": fleet.rule_of(row).threshold_pct,
    }


def unit_evidence(judged: Judged, unit: Unit) -> dict[str, Any]:
    """What the verdict of an instance or job was made from."""
    rows = list(unit.rows)
    return {
        "state": str(unit.verdict.state),
        "reason": str(unit.verdict.reason),
        "window_minutes": int(judged.window_seconds[rows].max()) // 60 if rows else None,
        "coverage_pct": percent(unit.coverage_pct),
        "peak_pct": percent(unit.peak_pct),
        "mean_pct": percent(unit.mean_pct),
        "signal": unit.signal,
        "confidence": unit.confidence,
        "points": int(judged.points[rows].sum()) if rows else 0,
        "memory": memory_word(judged, rows),
        "gpus": len(rows),
    }


def memory_word(judged: Judged, rows: Sequence[int]) -> str:
    """Memory of some GPUs together: held if one holds some, unknown if one does not say, else empty."""
    codes = judged.memory[list(rows)]
    return "held" if (codes == 2).any() else "unknown" if (codes == 0).any() or not len(rows) else "empty"


def percent(value: float | None) -> float | None:
    """Two decimals; None for unknown."""
    return None if value is None or np.isnan(value) else round(float(value), 2)


def whole(minutes: float | None) -> float | int | None:
    """Minutes: an int when whole, else two decimals; None for unknown."""
    if minutes is None:
        return None
    return int(minutes) if float(minutes).is_integer() else round(float(minutes), 2)
