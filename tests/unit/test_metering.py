"""Metering on arrays against its slow reading, and the worked tables of docs/reference/money.md."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.domain.gpu_hours import HourRows, Machine, Member, Run, Use, Version, meter_machine
from fleet.domain.idle_rule import facts_of
from fleet.domain.metering import Coverage, Metered, Pieces, cover, mark_runs, measure, sample_states
from fleet.domain.samples import SampleBlock, empty_block
from fleet.domain.signals import Signal
from tests.unit.metering_oracle import SlowGpu, hour_of_gpu

HOUR = 3600
START = 1_748_944_800  # 2025-06-03T10:00:00Z
NAMES = ["working", "low", "held", "empty", "unknown", "stopped"]


def block_of(gpus: int, hours: int = 1, extra: int = 6) -> SampleBlock:
    marks = START + 300 * np.arange(1, 12 * hours + extra + 1)
    return empty_block(np.arange(gpus, dtype=np.int64), marks)


def coverage_of(samples: list[dict[int, tuple[int, str]]], hours: int = 1) -> Coverage:
    block = block_of(len(samples), hours)
    states = np.zeros(block.shape, dtype=np.int8)
    for row, own in enumerate(samples):
        for mark, (seconds, state) in own.items():
            column = (mark - START) // 300 - 1
            block.points[row, column] = 1
            block.minutes[row, column] = seconds / 60
            states[row, column] = NAMES.index(state)
    return cover(block, states)


def whole(gpu: int, *, start: int = 0, end: int = 1 << 40, uses: list[Use] | None = None, weight: int = 0) -> Member:
    return Member(gpu + 1, gpu, start * 1000, end * 1000, weight, "H100", uses or [])


def meter_hours(
    machine: Machine, coverage: Coverage, *, hours: int = 1, until: int | None = None, midnights=()
) -> list:
    rows = HourRows()
    meter_machine(
        machine,
        [(START + HOUR * index) * 1000 for index in range(hours)],
        until=(until or START + HOUR * hours) * 1000,
        midnights=[at * 1000 for at in midnights],
        changes=[],
        owner_of=lambda instance, job, at: (None if job is None else job * 10, f"owner-{job}"),
        rows=rows,
    )
    times = rows.measured(coverage)
    return [
        (rows.hour[i] // 1000, rows.gpu[i], rows.share[i], dict(zip(NAMES, times[i].tolist(), strict=True)))
        for i in range(len(rows.hour))
    ]


def machine(*devices: list[Member], gpu_count: int | None = None, runs: list[Run] | None = None) -> Machine:
    always = [Run(0, 1 << 60, True)]
    return Machine(7, runs if runs is not None else always, [Version(0, gpu_count, "H100")], list(devices))


def test_twelve_full_samples_are_an_hour_of_their_states():
    samples = {START + 300 * n: (300, "working" if n <= 9 else "held") for n in range(1, 13)}
    [(hour, gpu, share, times)] = meter_hours(machine([whole(0)]), coverage_of([samples]))
    assert (hour, gpu, share) == (START, 1, (None, None, "owner-None", 0))
    assert times == {"working": 2_700_000, "low": 0, "held": 900_000, "empty": 0, "unknown": 0, "stopped": 0}


def test_one_sample_in_six_of_a_fleet_scraped_every_thirty_minutes_covers_it_across_the_hour():
    samples = {START + 300 * 3: (1800, "working"), START + 300 * 9: (1800, "held"), START + 300 * 15: (1800, "low")}
    [(_, _, _, times)] = meter_hours(machine([whole(0)]), coverage_of([samples]))
    assert times == {"working": 900_000, "low": 900_000, "held": 1_800_000, "empty": 0, "unknown": 0, "stopped": 0}


def test_an_interval_of_forty_seconds_leaves_no_holes():
    samples = {START + 300 * n: (320 if n % 2 else 280, "working") for n in range(1, 14)}
    [(_, _, _, times)] = meter_hours(machine([whole(0)]), coverage_of([samples]))
    assert times["working"] == 3_600_000


def test_a_gap_is_unknown_and_a_sample_does_not_reach_over_a_covered_one_into_it():
    samples = {START + 300 * n: (300, "working") for n in range(1, 13) if n not in (4, 5)}
    samples[START + 300 * 7] = (330, "working")  # half a minute too many: its neighbour is full already
    [(_, _, _, times)] = meter_hours(machine([whole(0)]), coverage_of([samples]))
    assert (times["working"], times["unknown"]) == (3_000_000, 600_000)


def test_the_hour_that_goes_on_sums_to_what_has_passed():
    samples = {START + 300 * n: (300, "working") for n in range(1, 6)}
    [(_, _, _, times)] = meter_hours(machine([whole(0)]), coverage_of([samples]), until=START + 1740)
    assert (times["working"], times["unknown"]) == (1_500_000, 240_000)


def test_devices_that_nobody_saw_share_one_row():
    samples = {START + 300 * n: (300, "working") for n in range(1, 13)}
    rows = meter_hours(machine([whole(0)], gpu_count=8), coverage_of([samples]))
    assert [(gpu, times["working"], times["unknown"]) for _, gpu, _, times in rows] == [
        (1, 3_600_000, 0),
        (0, 0, 7 * 3_600_000),
    ]


def test_a_machine_of_which_nothing_is_known_is_one_unknown_device():
    [(_, gpu, _, times)] = meter_hours(machine(), coverage_of([{}]))
    assert (gpu, times["unknown"]) == (0, 3_600_000)


def test_a_stop_within_the_hour():
    samples = {START + 300 * n: (300, "working") for n in range(1, 13)}
    runs = [Run((START - 99) * 1000, (START + 1234) * 1000, True), Run((START + 1234) * 1000, 1 << 60, False)]
    [(_, _, _, times)] = meter_hours(machine([whole(0)], runs=runs), coverage_of([samples]))
    assert (times["working"], times["stopped"]) == (1_234_000, 2_366_000)


def test_an_hour_without_any_running_is_one_row_and_one_without_existence_none():
    runs = [Run(0, (START + HOUR) * 1000, False)]
    rows = meter_hours(machine([whole(0)], [whole(1)], gpu_count=2, runs=runs), coverage_of([{}, {}], 2), hours=2)
    assert [(hour, gpu, times["stopped"]) for hour, gpu, _, times in rows] == [(START, 0, 2 * 3_600_000)]


def test_jobs_that_hold_one_gpu_together_share_its_time():
    samples = {START + 300 * n: (300, "working") for n in range(1, 13)}
    uses = [Use(0, 1 << 60, 1), Use(0, 1 << 60, 2), Use((START + 1800) * 1000, 1 << 60, 3)]
    rows = meter_hours(machine([whole(0, uses=uses)]), coverage_of([samples]))
    assert {share.job: times["working"] for _, _, share, times in rows} == {1: 1_500_000, 2: 1_500_000, 3: 600_000}


def test_seven_jobs_lose_no_millisecond():
    samples = {START + 300 * n: (299, "low") for n in range(1, 13)}
    uses = [Use(0, 1 << 60, job) for job in range(1, 8)]
    rows = meter_hours(machine([whole(0, uses=uses)]), coverage_of([samples]))
    low = [times["low"] for _, _, _, times in rows]
    assert len(rows) == 7
    assert sum(sum(times.values()) for _, _, _, times in rows) == 3_600_000
    assert abs(sum(low) - 3_588_000) <= 7
    assert max(low) - min(low) <= 2


def test_slices_of_a_gpu_are_one_gpu_and_hide_the_whole_one():
    samples = [{}, *({START + 300 * n: (300, state) for n in range(1, 13)} for state in ("working", "held", "empty"))]
    device = [whole(0), whole(1, weight=1), whole(2, weight=1), whole(3, weight=1)]
    rows = meter_hours(machine(device, gpu_count=1), coverage_of(samples))
    assert [(gpu, times["working"], times["held"], times["empty"]) for _, gpu, _, times in rows] == [
        (2, 1_200_000, 0, 0),
        (3, 0, 1_200_000, 0),
        (4, 0, 0, 1_200_000),
    ]


def test_a_midnight_within_the_hour_makes_two_shares():
    samples = {START + 300 * n: (300, "working") for n in range(1, 13)}
    rows = meter_hours(machine([whole(0)]), coverage_of([samples]), midnights=[START + 1800])
    assert [(share.part_start_minute, times["working"]) for _, _, share, times in rows] == [
        (0, 1_800_000),
        (30, 1_800_000),
    ]


def test_a_gpu_that_moves_in_within_the_hour_takes_over_from_the_unseen():
    samples = {START + 300 * n: (300, "working") for n in range(1, 13)}
    rows = meter_hours(machine([whole(0, start=START + 600)], gpu_count=1), coverage_of([samples]))
    assert [(gpu, times["working"], times["unknown"]) for _, gpu, _, times in rows] == [
        (1, 3_000_000, 0),
        (0, 0, 600_000),
    ]


samples_of_gpu = st.dictionaries(
    st.integers(1, 30).map(lambda n: START + 300 * n),
    st.tuples(st.sampled_from([30, 60, 150, 280, 300, 300, 300, 320, 600, 900, 1800]), st.sampled_from(NAMES[:5])),
    max_size=30,
)
moments = st.integers(START - 600, START + 2 * HOUR + 600)
spans = st.tuples(moments, moments).map(lambda pair: (min(pair), max(pair) + 1))


@st.composite
def histories(draw):
    gpus = [
        SlowGpu(
            draw(samples_of_gpu),
            draw(st.one_of(st.just((0, 1 << 40)), spans)),
            [(start, end, draw(st.integers(1, 4))) for start, end in draw(st.lists(spans, max_size=4))],
        )
        for _ in range(draw(st.integers(1, 2)))
    ]
    running = draw(st.one_of(st.just([(0, 1 << 40)]), spans.map(lambda span: [span])))
    return gpus, running, draw(st.integers(START + 1, START + 2 * HOUR))


@given(histories())
@settings(max_examples=40, deadline=None)
def test_equals_the_slow_reading(history):
    gpus, running, until = history
    devices = [
        [
            whole(
                row,
                start=gpu.placed[0],
                end=gpu.placed[1],
                uses=[Use(a * 1000, b * 1000, job) for a, b, job in gpu.uses],
            )
        ]
        for row, gpu in enumerate(gpus)
    ]
    runs = [Run(a * 1000, b * 1000, True) for a, b in running]
    # the machine exists before and after: then it stands still
    runs = [Run(0, runs[0].start, False), *runs, Run(runs[-1].end, 1 << 60, False)]
    rows = meter_hours(
        machine(*devices, gpu_count=len(gpus), runs=runs),
        coverage_of([gpu.samples for gpu in gpus], 2),
        hours=2,
        until=until,
    )
    sums: defaultdict[int, int] = defaultdict(int)
    for hour, _, _, times in rows:
        sums[hour] += sum(times.values())
    expected_hours = {hour: min(HOUR, until - hour) for hour in (START, START + HOUR) if until > hour}
    assert dict(sums) == {hour: seconds * 1000 * len(gpus) for hour, seconds in expected_hours.items()}
    for hour, seconds in expected_hours.items():
        runs_here = any(a < hour + seconds and b > hour for a, b in running)
        for row, gpu in enumerate(gpus):
            got = {
                share.job: {state: ms for state, ms in times.items() if ms}
                for at, ref, share, times in rows
                if (at, ref) == (hour, row + 1)
            }
            slow = hour_of_gpu(gpu, hour, until, running) if runs_here else {}
            assert got.keys() == slow.keys()
            for job, states in slow.items():
                for state in NAMES:
                    assert abs(got[job].get(state, 0) - states.get(state, 0) * 1000) <= 8, (job, state)


def test_the_state_of_a_sample():
    block = block_of(1, extra=0)
    block.points[:] = 10
    for signal, values in {
        Signal.SM_ACTIVE: [80, 24.9, 25, np.nan, np.nan, np.nan, 2, 2, 2, 2, np.nan, np.nan],
        Signal.GPU_UTIL: [0, 99, 99, 60, np.nan, np.nan, 0, 0, 0, 0, np.nan, np.nan],
    }.items():
        block.mean[signal][0] = values
        block.peak[signal][0] = values
    block.peak[Signal.ENCODER][0, 4] = 5
    block.peak[Signal.MEMORY_MIB][0, 6:10] = [1024, 1025, np.nan, 0]
    idle = np.zeros(block.shape, dtype=bool)
    idle[0, 6:10] = True
    states = sample_states(block, facts_of(1, memory_total_mib=81_559), is_idle=idle)[0].tolist()
    w, low, held, empty, unknown = Metered
    assert states == [w, low, w, w, w, unknown, empty, held, held, empty, unknown, unknown]


def test_utilisation_of_a_slice_tells_nothing():
    block = block_of(1, extra=0)
    block.points[:] = 10
    block.mean[Signal.GPU_UTIL][:] = block.peak[Signal.GPU_UTIL][:] = 90
    idle = np.zeros(block.shape, dtype=bool)
    states = sample_states(block, facts_of(1, is_mig=True), is_idle=idle)
    assert set(states[0].tolist()) == {Metered.UNKNOWN}


def test_a_run_holds_the_marks_after_its_since_up_to_its_until():
    marks = START + 300 * np.arange(1, 7)
    since, until = np.array([START + 300.0, START + 1500.0]), np.array([START + 900.0, np.inf])
    flags = mark_runs(marks, 2, np.array([0, 1]), since, until)
    assert flags.tolist() == [[False, True, True, False, False, False], [False, False, False, False, False, True]]


def test_parts_of_a_piece_sum_to_it_wherever_it_is_cut():
    coverage = coverage_of([{START + 300 * n: (300, "held") for n in range(1, 13)}])
    cuts = [0, 1, 333_333, 1_000_001, 3_600_000]
    table = [(0, START * 1000 + a, START * 1000 + b, part, part + 1, 3) for a, b in pairwise(cuts) for part in range(3)]
    assert measure(coverage, Pieces(*np.array(table).T)).sum() == 3_600_000
