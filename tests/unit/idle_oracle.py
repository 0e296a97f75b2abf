"""A slow, obvious reading of docs/reference/verdicts.md: one GPU, one mark at a time, plain lists, no arrays.

Written from the words, never from fleet/domain/idle.py: the two are compared on random histories.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

GIB = 1024.0


@dataclass(frozen=True)
class Sample:
    """What was seen of a GPU in (mark - 5 min, mark]; only marks with raw points have one. Times are epoch seconds."""

    mark: int
    points: int
    interval: int
    first_at: float
    last_at: float
    minutes: float
    peaks: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Words:
    """The numbers of a rule, in seconds and percent."""

    threshold: float
    window: int
    empty_window: int
    coverage: float
    warm_up: int


@dataclass(frozen=True)
class Device:
    """Facts of the GPU; ``starts`` are all known launches, starts and resumes."""

    starts: tuple[float, ...] = ()
    is_mig: bool = False
    is_amd: bool = False
    memory_total: float | None = None
    resting_watts: float | None = None  # what an idle card of this model may draw at most, where that was learned


@dataclass
class Said:
    """The verdict at one mark."""

    state: str
    reason: str
    since: float | None
    minutes: float
    is_open: bool
    in_run: bool


def kind_of(sample: Sample, device: Device, words: Words) -> str:
    """busy, quiet or silent."""
    lines = {"gr_engine": words.threshold, "sm_active": words.threshold}
    lines |= {"encoder": 5, "decoder": 5, "tensor": 0.5, "dram": 1}
    if not device.is_mig:
        lines["gpu_util"] = 20 if device.is_amd else words.threshold
    for signal, line in lines.items():
        if signal in sample.peaks and sample.peaks[signal] >= line:
            return "busy"
    power = sample.peaks.get("power_watts")
    if device.is_amd and device.resting_watts is not None and power is not None and power > device.resting_watts:
        return "busy"
    activity = {"gr_engine", "sm_active"} if device.is_mig else {"gr_engine", "sm_active", "gpu_util"}
    if not activity & set(sample.peaks):
        return "silent"
    if device.is_amd and (device.resting_watts is None or power is None):
        return "silent"
    return "quiet"


def memory_of(sample: Sample, device: Device) -> str:
    """held, small or unknown."""
    if "memory_mib" not in sample.peaks:
        return "unknown"
    limit = GIB if device.memory_total is None else min(GIB, 0.05 * device.memory_total)
    return "small" if sample.peaks["memory_mib"] <= limit else "held"


class Reader:
    """Reads a GPU's whole history, mark after mark."""

    def __init__(self, history: list[Sample], device: Device, words: Words) -> None:
        self.history, self.device, self.words = sorted(history, key=lambda sample: sample.mark), device, words

    def start_at(self, now: int) -> float | None:
        """Latest known start; none known: the end of the GPU's first sample."""
        known = [start for start in self.device.starts if start <= now]
        if known:
            return max(known)
        return self.history[0].mark if self.history and self.history[0].mark <= now else None

    def window(self, now: int, length: int) -> tuple[float, list[Sample]]:
        """Where the window opens, and its samples."""
        start = self.start_at(now)
        opens = now - length if start is None else max(now - length, start)
        return opens, [s for s in self.history if opens < s.mark <= now]

    def covered(self, now: int, length: int) -> str | None:
        """Why the window can't be trusted: no_data, stale, low_coverage, gap_in_window; None when it can."""
        opens, samples = self.window(now, length)
        if not samples:
            return "no_data"
        interval = samples[-1].interval
        if now - samples[-1].last_at > 2 * interval + 60:
            return "stale"
        if 100 * sum(s.points for s in samples) * interval < self.words.coverage * (now - opens) - 1e-3:
            return "low_coverage"
        for earlier, later in pairwise(samples):
            if later.first_at - earlier.last_at > max(300, 2 * later.interval + 60):
                return "gap_in_window"
        return None

    def quiet_over(self, now: int, length: int) -> bool:
        """Idle by a window of this length."""
        start = self.start_at(now)
        if start is None or now < start + max(self.words.warm_up, length) or self.covered(now, length):
            return False
        return all(kind_of(s, self.device, self.words) == "quiet" for s in self.window(now, length)[1])

    def verdict(self, now: int) -> tuple[str, str]:  # noqa: PLR0911 - one return per word
        """State and reason, in the order of the words."""
        words, device = self.words, self.device
        short = self.window(now, words.empty_window)[1]
        if self.quiet_over(now, words.empty_window) and all(memory_of(s, device) == "small" for s in short):
            return "empty", "quiet_empty"
        _, samples = self.window(now, words.window)
        trouble = self.covered(now, words.window)
        if trouble in ("no_data", "stale"):
            return "unknown", trouble
        kinds = [kind_of(s, device, words) for s in samples]
        if kinds[-1] == "busy":
            return "working", "busy_now" if trouble else "busy"
        if trouble:
            return "unknown", trouble
        if "busy" in kinds:
            return "working", "busy"
        if "silent" in kinds:
            return "unknown", "no_baseline" if device.is_amd else "no_activity_signal"
        if not self.quiet_over(now, words.window):
            return "working", "too_early"
        lately = self.window(now, min(words.window, words.empty_window))[1]
        if all(memory_of(s, device) == "small" for s in lately):
            return "empty", "quiet_empty"
        if any(memory_of(s, device) == "held" for s in samples):
            return "held", "quiet_memory_held"
        return "held", "quiet_memory_unknown"

    def read(self, marks: list[int]) -> list[Said]:
        """Follow the idle clock over the marks."""
        answers: list[Said] = []
        by_mark = {s.mark: s for s in self.history}
        is_open = in_run = False
        after_gap: float | None = None
        start_before = None
        for now in marks:
            start = self.start_at(now)
            if start != start_before:
                is_open, in_run, after_gap = False, False, None
            start_before = start
            since_start = [s for s in self.history if start is not None and start < s.mark <= now]
            sample = by_mark.get(now)
            if sample and sample in since_start:
                before = [s for s in since_start if s.mark < now]
                if before and not is_open and sample.first_at - before[-1].last_at > max(900, 3 * sample.interval):
                    after_gap = now
                if kind_of(sample, self.device, self.words) == "busy":
                    in_run = False
                    telling = [k for k in (kind_of(s, self.device, self.words) for s in before) if k != "silent"]
                    if telling and telling[-1] == "busy":
                        is_open = False
            state, reason = self.verdict(now)
            if state in ("held", "empty"):
                is_open = in_run = True
            busy = [s.mark for s in since_start if kind_of(s, self.device, self.words) == "busy"]
            since: float | None = None
            if since_start:
                since = busy[-1] if busy else max(start or 0, since_start[0].mark)
                since = max(since, after_gap or 0)
            minutes = sum(s.minutes for s in since_start if since is not None and s.mark > since)
            answers.append(Said(state, reason, since, minutes, is_open, in_run))
        return answers
