"""Instances and jobs from their GPUs."""

from __future__ import annotations

import pytest

from fleet.domain.states import Reason, State
from fleet.domain.units import (
    GpuVerdict,
    MachineFacts,
    UnitVerdict,
    disagrees,
    judge_instance,
    judge_job,
    models_differ,
)

NOW = 1_748_944_800.0
BUSY = (State.WORKING, Reason.BUSY)
EARLY = (State.WORKING, Reason.TOO_EARLY)
HELD = (State.HELD, Reason.QUIET_MEMORY_HELD)
BLIND = (State.HELD, Reason.QUIET_MEMORY_UNKNOWN)
EMPTY = (State.EMPTY, Reason.QUIET_EMPTY)
SILENT = (State.UNKNOWN, Reason.NO_DATA)
SPARSE = (State.UNKNOWN, Reason.LOW_COVERAGE)


def gpus(*kinds: tuple[State, Reason], model: str = "H100-SXM5-80GB") -> list[GpuVerdict]:
    return [
        GpuVerdict(f"GPU-{n}", model, state, reason, NOW - 60 * n if state in (State.HELD, State.EMPTY) else None)
        for n, (state, reason) in enumerate(kinds)
    ]


def machine(**facts: object) -> MachineFacts:
    return MachineFacts(**{"provider_state": "running", "gpu_count": None, **facts})  # type: ignore[arg-type]


CASES = [
    ("the provider's word comes first", machine(provider_state="stopped"), [BUSY], (State.STOPPED, Reason.NOT_RUNNING)),
    ("billed though stopped", machine(provider_state="stopped_billed"), [HELD], (State.STOPPED, Reason.NOT_RUNNING)),
    ("stopping is still running", machine(provider_state="stopping"), [BUSY], BUSY),
    ("warm-up", machine(started_at=NOW - 60, warm_up_seconds=61), [BUSY], (State.WARM_UP, Reason.JUST_STARTED)),
    ("warm-up is over", machine(started_at=NOW - 60, warm_up_seconds=60), [EARLY], EARLY),
    ("one works", machine(), [HELD, BUSY, SILENT], BUSY),
    ("one works on a host claimed twice", machine(is_contested=True), [BUSY, HELD], BUSY),
    ("a busy one explains more than a young one", machine(), [EARLY, BUSY], BUSY),
    ("claimed twice", machine(is_contested=True), [HELD], (State.UNKNOWN, Reason.HOST_CLAIMED_TWICE)),
    ("never seen", machine(gpu_count=8), [], (State.UNKNOWN, Reason.NEVER_SEEN)),
    ("all silent", machine(gpu_count=2), [SILENT, SILENT], SILENT),
    ("one silent of two", machine(gpu_count=2), [HELD, SILENT], (State.UNKNOWN, Reason.FEWER_DEVICES)),
    ("one silent, no count known", machine(), [HELD, SILENT], SILENT),
    ("fewer than the inventory has", machine(gpu_count=3), [HELD, HELD], (State.UNKNOWN, Reason.FEWER_DEVICES)),
    ("more than it has", machine(gpu_count=1), [HELD, HELD], (State.UNKNOWN, Reason.INVENTORY_DISAGREES)),
    ("another model", machine(gpu_model="A100"), [HELD], (State.UNKNOWN, Reason.INVENTORY_DISAGREES)),
    ("one is not covered", machine(gpu_count=2), [HELD, SPARSE], SPARSE),
    ("held beats empty", machine(), [EMPTY, BLIND], BLIND),
    ("known memory explains more", machine(), [BLIND, HELD], HELD),
    ("all empty", machine(gpu_count=2), [EMPTY, EMPTY], EMPTY),
]


@pytest.mark.parametrize(("facts", "kinds", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_instance(facts: MachineFacts, kinds: list[tuple[State, Reason]], wanted: tuple[State, Reason]) -> None:
    found = judge_instance(facts, gpus(*kinds), NOW)
    assert (found.state, found.reason) == wanted


def test_since_is_that_of_the_last_one_to_go_idle() -> None:
    assert judge_instance(machine(), gpus(HELD, HELD, EMPTY), NOW) == UnitVerdict(*HELD, since=NOW)
    assert judge_instance(machine(), gpus(BUSY, HELD), NOW).since is None


def test_slices_count_as_their_card() -> None:
    slices = [GpuVerdict("GPU-0", "H100", *EMPTY, since=NOW) for _ in range(7)]
    assert judge_instance(machine(gpu_count=1), slices, NOW).state is State.EMPTY
    assert not disagrees(machine(gpu_count=1), slices)


def test_job() -> None:
    assert judge_job(gpus(HELD, BUSY)).state is State.WORKING
    assert judge_job(gpus(HELD, SILENT)) == UnitVerdict(*SILENT)
    assert judge_job(gpus(EMPTY, EMPTY)).state is State.EMPTY
    assert judge_job([]) == UnitVerdict(State.UNKNOWN, Reason.NEVER_SEEN)


@pytest.mark.parametrize(
    ("declared", "seen", "differ"),
    [
        ("H100-SXM5-80GB", "NVIDIA H100 80GB HBM3", False),
        ("A100-SXM4-80GB", "H100-SXM5-80GB", True),
        ("L40S-48GB", "L40-48GB", True),
        ("", "H100-SXM5-80GB", False),
        ("some card", "H100-SXM5-80GB", False),
    ],
)
def test_models_differ_only_where_both_say_something(declared: str, seen: str, differ: bool) -> None:
    assert models_differ(declared, seen) is differ
