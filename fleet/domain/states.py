"""States, reasons and findings: the enumerations that every door shows (docs/reference/codes.md)."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """What a GPU, job or instance is doing. `low` is no state but a part of `working`."""

    WARM_UP = "warm_up"
    WORKING = "working"
    HELD = "held"
    EMPTY = "empty"
    UNKNOWN = "unknown"
    STOPPED = "stopped"


IDLE = frozenset({State.HELD, State.EMPTY})


class Reason(StrEnum):
    """Why a verdict is what it is."""

    BUSY = "busy"  # a signal reached the threshold within the window
    BUSY_NOW = "busy_now"  # the newest sample is busy, though the window is not covered
    TOO_EARLY = "too_early"  # quiet so far, but start + max(warm_up, window) is not reached
    QUIET_MEMORY_HELD = "quiet_memory_held"
    QUIET_MEMORY_UNKNOWN = "quiet_memory_unknown"
    QUIET_EMPTY = "quiet_empty"
    NO_DATA = "no_data"  # no sample in the window
    STALE = "stale"  # the newest point is too old
    LOW_COVERAGE = "low_coverage"
    GAP_IN_WINDOW = "gap_in_window"
    NO_ACTIVITY_SIGNAL = "no_activity_signal"  # points, but none that tells activity (MIG without PROF, blanks)
    NO_BASELINE = "no_baseline"  # AMD below 20 % without a learned power baseline
    FEWER_DEVICES = "fewer_devices"  # fewer GPUs report than the inventory has
    HOST_CLAIMED_TWICE = "host_claimed_twice"
    INVENTORY_DISAGREES = "inventory_disagrees"  # GPU count or model differ from the inventory
    NOT_RUNNING = "not_running"  # by the provider's word
    JUST_STARTED = "just_started"  # within warm_up of launch or resume
    NEVER_SEEN = "never_seen"  # no telemetry ever


class FindingKind(StrEnum):
    """What deserves an eye."""

    IDLE = "idle"
    LOW_UTILIZATION = "low_utilization"
    SUSPECTED_HANG = "suspected_hang"
    PARTLY_USED = "partly_used"
    GPU_LOST = "gpu_lost"
    UNASSIGNED = "unassigned"
    UNPRICED = "unpriced"
    UNKNOWN_HOST = "unknown_host"
    TARGET_DOWN = "target_down"
