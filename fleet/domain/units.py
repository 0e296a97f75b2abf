"""Instances and jobs from their GPUs: the provider's word first, then the GPUs', the busiest one first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fleet.domain.states import IDLE, Reason, State

NOT_RUNNING = frozenset({"stopped", "stopped_billed", "terminated", "gone"})
SILENT_DEVICE = frozenset({Reason.NO_DATA, Reason.STALE, Reason.NEVER_SEEN})


@dataclass(frozen=True)
class GpuVerdict:
    """One GPU's verdict now. Times in epoch seconds; ``since`` is None while the idle clock does not run."""

    uuid: str
    model: str
    state: State
    reason: Reason
    since: float | None


@dataclass(frozen=True)
class MachineFacts:
    """What is known of a machine beside telemetry; ``started_at`` None: its provider does not say."""

    provider_state: str = "running"
    started_at: float | None = None
    warm_up_seconds: int = 0
    gpu_count: int | None = None
    gpu_model: str = ""
    is_contested: bool = False  # two running instances claim its host


@dataclass(frozen=True)
class UnitVerdict:
    """The verdict on an instance or job; ``since`` only while it is idle."""

    state: State
    reason: Reason
    since: float | None = None


def judge_instance(machine: MachineFacts, gpus: Sequence[GpuVerdict], now: float) -> UnitVerdict:
    """Judge a machine from its provider's facts and its GPUs (MIG slices count as their device)."""
    if machine.provider_state in NOT_RUNNING:
        return UnitVerdict(State.STOPPED, Reason.NOT_RUNNING)
    if machine.started_at is not None and now < machine.started_at + machine.warm_up_seconds:
        return UnitVerdict(State.WARM_UP, Reason.JUST_STARTED)
    working = [gpu for gpu in gpus if gpu.state is State.WORKING]
    if working:
        return UnitVerdict(State.WORKING, _reason_to_work(working))
    doubt = _doubt(machine, gpus)
    return UnitVerdict(State.UNKNOWN, doubt) if doubt else _idle(gpus)


def judge_job(gpus: Sequence[GpuVerdict]) -> UnitVerdict:
    """Judge a job over all its GPUs on all its nodes."""
    working = [gpu for gpu in gpus if gpu.state is State.WORKING]
    if working:
        return UnitVerdict(State.WORKING, _reason_to_work(working))
    unknown = [gpu.reason for gpu in gpus if gpu.state is State.UNKNOWN]
    if unknown or not gpus:
        return UnitVerdict(State.UNKNOWN, _commonest(unknown) if unknown else Reason.NEVER_SEEN)
    return _idle(gpus)


def _reason_to_work(working: Sequence[GpuVerdict]) -> Reason:
    reasons = {gpu.reason for gpu in working}
    return next(reason for reason in (Reason.BUSY, Reason.BUSY_NOW, Reason.TOO_EARLY) if reason in reasons)


def _doubt(machine: MachineFacts, gpus: Sequence[GpuVerdict]) -> Reason | None:
    """Why a machine without a working GPU can't be judged; None when it can."""
    if machine.is_contested:
        return Reason.HOST_CLAIMED_TWICE
    if not gpus:
        return Reason.NEVER_SEEN
    unknown = [gpu.reason for gpu in gpus if gpu.state is State.UNKNOWN]
    if len(unknown) == len(gpus):
        return _commonest(unknown)
    devices = {gpu.uuid for gpu in gpus}
    reporting = {gpu.uuid for gpu in gpus if gpu.reason not in SILENT_DEVICE}
    if machine.gpu_count is not None and len(reporting) < machine.gpu_count:
        return Reason.FEWER_DEVICES
    if unknown:
        return _commonest(unknown)
    if machine.gpu_count is not None and len(devices) > machine.gpu_count:
        return Reason.INVENTORY_DISAGREES
    if any(models_differ(machine.gpu_model, gpu.model) for gpu in gpus):
        return Reason.INVENTORY_DISAGREES
    return None


def disagrees(machine: MachineFacts, gpus: Sequence[GpuVerdict]) -> bool:
    """Whether telemetry shows more devices, or another model, than the inventory says."""
    devices = {gpu.uuid for gpu in gpus}
    too_many = machine.gpu_count is not None and len(devices) > machine.gpu_count
    return too_many or any(models_differ(machine.gpu_model, gpu.model) for gpu in gpus)


def models_differ(declared: str, seen: str) -> bool:
    """Whether two names of GPU models name different ones, where both say something."""
    ours, theirs = _family(declared), _family(seen)
    return bool(ours and theirs) and ours != theirs


@lru_cache(maxsize=1024)
def _family(name: str) -> str:
    """The word that tells a board's family: H100, A100, L40S, MI300X, 4090; '' when there is none."""
    words = name.upper().replace("-", " ").replace("_", " ").split()
    return next((word for word in words if any(c.isdigit() for c in word) and not word.endswith(("GB", "MIB"))), "")


def _idle(gpus: Sequence[GpuVerdict]) -> UnitVerdict:
    """The verdict when every GPU is idle: held if one is, since the last of them."""
    since = max((gpu.since for gpu in gpus if gpu.since is not None), default=None)
    held = [gpu.reason for gpu in gpus if gpu.state is State.HELD]
    if not held:
        return UnitVerdict(State.EMPTY, Reason.QUIET_EMPTY, since)
    known = Reason.QUIET_MEMORY_HELD in held
    return UnitVerdict(State.HELD, Reason.QUIET_MEMORY_HELD if known else Reason.QUIET_MEMORY_UNKNOWN, since)


def _commonest(reasons: Sequence[Reason]) -> Reason:
    return max(dict.fromkeys(reasons), key=reasons.count)


def is_idle(state: State) -> bool:
    """Whether a state is held or empty."""
    return state in IDLE
