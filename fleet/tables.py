"""Rows of machines as pages show them: plain values, with times counted from the page's time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fleet.domain.states import Reason, State
from fleet.queries.record import GpuNow, Judged

REASONS = {
    Reason.BUSY: gettext_lazy("A signal reached the threshold within the window."),
    Reason.BUSY_NOW: gettext_lazy("The newest sample is busy."),
    Reason.TOO_EARLY: gettext_lazy("Quiet so far, but too early to call it idle."),
    Reason.QUIET_MEMORY_HELD: gettext_lazy("Every signal stayed quiet over the whole window, while memory is held."),
    Reason.QUIET_MEMORY_UNKNOWN: gettext_lazy("Every signal stayed quiet over the whole window; memory unknown."),
    Reason.QUIET_EMPTY: gettext_lazy("Every signal stayed quiet over the whole window, and nothing is held in memory."),
    Reason.NO_DATA: gettext_lazy("No sample came in within the window, so nobody can say."),
    Reason.STALE: gettext_lazy("The newest sample is too old, so nobody can say."),
    Reason.LOW_COVERAGE: gettext_lazy("Too few samples came in within the window, so nobody can say."),
    Reason.GAP_IN_WINDOW: gettext_lazy("There is a gap within the window, so nobody can say."),
    Reason.NO_ACTIVITY_SIGNAL: gettext_lazy("Samples come in, but none of their signals tells activity."),
    Reason.NO_BASELINE: gettext_lazy("Its idle power is not known yet, so nobody can say."),
    Reason.FEWER_DEVICES: gettext_lazy("Fewer GPUs report than the inventory has, so nobody can say."),
    Reason.HOST_CLAIMED_TWICE: gettext_lazy("Two running instances claim this host, so nobody can say."),
    Reason.INVENTORY_DISAGREES: gettext_lazy("Telemetry and inventory disagree about its GPUs, so nobody can say."),
    Reason.NOT_RUNNING: gettext_lazy("The provider says that it does not run."),
    Reason.JUST_STARTED: gettext_lazy("It has just started."),
    Reason.NEVER_SEEN: gettext_lazy("No telemetry has ever shown it."),
}


def reason_sentence(reason: str) -> str:
    """Say in one sentence why a verdict is what it is."""
    return str(REASONS[Reason(reason)]) if reason in set(Reason) else reason


@dataclass(frozen=True)
class MachineRow:
    """An idle machine. ``kind``: what it is, like `8 × H100`. ``idle_for`` counts from ``since`` to the page's time."""

    path: str
    name: str
    account: str
    team: str
    kind: str
    state: str
    sentence: str
    since: datetime | None
    idle_for: timedelta | None


def machine_kind(gpu_count: int | None, model: str) -> str:
    """Write `8 × H100`; what is not known is left out."""
    if not gpu_count:
        return model
    return f"{gpu_count} × {model or _('GPU')}"


@dataclass(frozen=True)
class GpuRow:
    """A device of a machine. ``peak_pct`` and ``mean_pct`` are None where nothing was seen."""

    label: str
    uuid: str
    model: str
    state: str
    sentence: str
    quiet_for: timedelta | None
    peak_pct: float | None
    mean_pct: float | None
    coverage_pct: float | None
    seen_ago: timedelta


def gpu_rows(gpus: Iterable[GpuNow], now: datetime) -> list[GpuRow]:
    """Make rows of devices; one that was never judged is unknown."""
    rows = []
    for gpu in gpus:
        verdict = gpu.verdict
        evidence = verdict.evidence if verdict else {}
        rows.append(
            GpuRow(
                label=_("GPU") if gpu.index is None else f"GPU {gpu.index}",
                uuid=gpu.name,
                model=gpu.model,
                state=verdict.state if verdict else State.UNKNOWN,
                sentence=reason_sentence(verdict.reason) if verdict else "",
                quiet_for=now - verdict.since if verdict and verdict.since else None,
                peak_pct=evidence.get("peak_pct"),
                mean_pct=evidence.get("mean_pct"),
                coverage_pct=evidence.get("coverage_pct"),
                seen_ago=now - gpu.last_seen_at,
            )
        )
    return rows


@dataclass(frozen=True)
class HistoryRow:
    """One verdict of the past, with its length."""

    state: str
    sentence: str
    start: datetime
    lasted: timedelta
    is_current: bool


def history_rows(history: Iterable[Judged], now: datetime) -> list[HistoryRow]:
    """Make rows of verdicts, newest first."""
    return [
        HistoryRow(one.state, reason_sentence(one.reason), one.start, (one.end or now) - one.start, one.end is None)
        for one in history
    ]


def state_band(history: Iterable[Judged], since: datetime, until: datetime) -> list[tuple[str, float]]:
    """Give (state, seconds) from ``since`` to ``until``, oldest first; what no verdict covers is unknown."""
    runs: list[tuple[str, float]] = []
    at = since
    for one in sorted(history, key=lambda verdict: verdict.start):
        start, end = max(one.start, at), min(one.end or until, until)
        if end <= start:
            continue
        if start > at:
            runs.append((State.UNKNOWN, (start - at).total_seconds()))
        runs.append((one.state, (end - start).total_seconds()))
        at = end
    if at < until:
        runs.append((State.UNKNOWN, (until - at).total_seconds()))
    return runs
