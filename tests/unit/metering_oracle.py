"""Metering read slowly and obviously: second by second, as docs/reference/money.md says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

STEP = 300


@dataclass
class SlowGpu:
    """``samples``: mark -> (seconds that it stands for, state). ``uses``: (start, end, job). Times in seconds."""

    samples: dict[int, tuple[int, str]]
    placed: tuple[int, int]
    uses: list[tuple[int, int, int]] = field(default_factory=list)


def state_at(gpu: SlowGpu, second: int) -> str:
    """What the GPU did in [second, second + 1)."""
    mark = (second // STEP + 1) * STEP  # of the cell that holds the second
    own_seconds, own_state = gpu.samples.get(mark, (0, ""))
    own_seconds = min(own_seconds, STEP)
    left = mark - second  # seconds until the end of the cell
    if left <= own_seconds:
        return own_state
    later = [m for m in sorted(gpu.samples) if m > mark and gpu.samples[m][0] > m - mark]
    if later:
        seconds, state = gpu.samples[later[0]]
        reach = min(seconds - (later[0] - mark), STEP)
        if left <= own_seconds + reach:
            return state
    return "unknown"


def hour_of_gpu(
    gpu: SlowGpu, hour: int, until: int, running: list[tuple[int, int]]
) -> dict[int | None, dict[str, Fraction]]:
    """Give, per job (None: nobody), the seconds in each state within the hour, up to ``until``."""
    found: dict[int | None, dict[str, Fraction]] = {}
    for second in range(max(hour, gpu.placed[0]), min(hour + 3600, until, gpu.placed[1])):
        runs = any(start <= second < end for start, end in running)
        state = state_at(gpu, second) if runs else "stopped"
        jobs: set[int | None] = {job for start, end, job in gpu.uses if start <= second < end}
        jobs = jobs or {None}
        for job in jobs:
            states = found.setdefault(job, {})
            states[state] = states.get(state, Fraction(0)) + Fraction(1, len(jobs))
    return found
