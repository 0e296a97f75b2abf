"""What happens next to an instance, and when at the earliest: codes and times, for people in `fleet.sentences`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.domain.idle_rule import NEVER, IdleRule
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.states import IDLE, State

Step = tuple[str, float | None]  # what, and when in epoch seconds; None: nobody knows


@dataclass(frozen=True)
class LastMarks:
    """The newest samples of one GPU that said something, by what they said; NEVER where none did.

    ``start``: of its present run. ``silent``: a sample that tells nothing. ``blind``: memory unknown.
    """

    start: float
    seen: float
    busy: float
    silent: float
    held: float
    blind: float


def next_steps(
    state: State, *, started: float | None, rule: IdleRule, gpus: Sequence[LastMarks], now: int
) -> list[Step]:
    """Say what comes next after ``state`` at the mark ``now``; ``started``: the newest start its provider tells."""
    if state is State.STOPPED:
        return [("judged_again_when_it_starts", None)]
    if state in IDLE:
        return [("idle_until_two_busy_samples_in_a_row", None)]
    found: list[Step] = []
    if state is State.WARM_UP and started is not None:
        found.append(("warm_up_ends", started + rule.warm_up_seconds))
    if state is State.UNKNOWN:
        found.append(("known_again_when_its_window_is_covered", None))
    if gpus:
        earliest = max(earliest_idle(gpu, rule, now) for gpu in gpus)
        found.append(("idle_at_the_earliest_if_quiet_from_now_on", max(earliest, float(now + STEP_SECONDS))))
    return found


def earliest_idle(gpu: LastMarks, rule: IdleRule, now: int) -> float:
    """Give the mark at which a GPU would be idle if it were quiet from now on, its memory as it is."""
    start = gpu.start if gpu.start > NEVER else float(now)
    last, full = max(gpu.busy, gpu.silent), max(gpu.held, gpu.blind)

    def by(window: int, *ends: float) -> float:
        return max(start + max(rule.warm_up_seconds, window), *(end + window for end in ends))

    earliest = by(rule.window_seconds, last)
    if full < gpu.seen:  # its memory is empty now
        earliest = min(earliest, by(rule.empty_window_seconds, last, full))
    return float(-(-earliest // STEP_SECONDS) * STEP_SECONDS)
