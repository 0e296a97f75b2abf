from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fleet.domain.timing import Timing, count_gaps, learn_interval, merge_gaps, time_samples, unite

MARKS = np.arange(3600, 3600 + 6 * 300, 300, dtype=np.int64)


def timing(times: list[float], interval: int, before: float = np.nan) -> Timing:
    points = unite(np.zeros(len(times), dtype=np.int64), np.array(times, dtype=float))
    return time_samples(points, MARKS, np.full((1, len(MARKS)), interval, dtype=np.int32), np.array([before]))


def test_a_point_stands_for_the_time_back_to_the_one_before_it() -> None:
    found = timing([3301, 3331, 3361, 3600], 30)
    assert found.points[0].tolist() == [4, 0, 0, 0, 0, 0]
    assert found.minutes[0].tolist() == [1.5, 0, 0, 0, 0, 0]  # the first one for nothing, the last for one interval
    assert (found.first_at[0, 0], found.last_at[0, 0]) == (3301, 3600)


def test_a_mark_belongs_to_the_sample_that_it_ends() -> None:
    found = timing([3300, 3600, 3601, 3900], 300)
    assert found.points[0].tolist() == [1, 2, 0, 0, 0, 0]  # 3300 is the end of the sample before the grid
    assert found.minutes[0, 0] == 5


def test_slow_scrapes_cover_all_the_time() -> None:
    found = timing([2300, 4100, 5900], 1800)
    assert found.points[0].tolist() == [0, 0, 1, 0, 0, 0]
    assert found.minutes[0].tolist() == [0, 0, 30, 0, 0, 0]


def test_a_device_seen_before_has_no_first_point() -> None:
    assert timing([3600], 30, before=1000).minutes[0, 0] == 0.5
    assert timing([3600], 30, before=3590).minutes[0, 0] == np.float32(10 / 60)
    assert timing([3600], 30, before=3600).minutes[0, 0] == 0


def test_the_same_time_twice_counts_once() -> None:
    assert timing([3590, 3590, 3600, 3600.0004], 30).points[0, 0] == 2


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(3000, 5400)), max_size=60),
    st.integers(10, 1800),
)
def test_it_reads_like_the_words(points: list[tuple[int, int]], interval: int) -> None:
    row = np.array([r for r, _ in points], dtype=np.int64)
    at = np.array([t for _, t in points], dtype=float)
    grid = np.full((3, len(MARKS)), interval, dtype=np.int32)
    found = time_samples(unite(row, at), MARKS, grid, np.full(3, np.nan))
    for device in range(3):
        times = sorted({t for r, t in points if r == device})
        for place, mark in enumerate(MARKS):
            own = [t for t in times if mark - 300 < t <= mark]
            seconds = sum(min(t - max(s for s in times if s < t), interval) for t in own if t > times[0])
            assert found.points[device, place] == len(own)
            assert abs(found.minutes[device, place] - seconds / 60) < 1e-4


def test_the_median_gap_of_a_day_is_the_interval() -> None:
    series = [np.arange(0, 7200, 30.0), np.array([0, 30, 60, 500, 530.0])]
    gaps = count_gaps({"job/a": series}, {"job/a": 0.0})["job/a"]
    assert gaps[0][30] == 120 + 3
    assert learn_interval(gaps, 0) == learn_interval(gaps, 23) == 30
    assert learn_interval(gaps, 30) is None  # a day later nothing is known
    assert learn_interval({0: {5: 10}}, 0) == 10
    assert learn_interval({0: {3600: 10}}, 0) == 1800
    assert learn_interval({0: {30: 1}}, 0) is None


def test_gaps_are_counted_for_each_target_from_its_own_time_on() -> None:
    series = np.array([3000, 3030, 3630, 3690.0])
    found = count_gaps(
        {"a": [series], "b": [series[:1]], "c": [series, series + 5], "d": []},
        {"a": 3030.0, "b": 0.0, "c": 0.0, "d": 0.0},
    )
    assert found == {"a": {1: {600: 1, 60: 1}}, "b": {}, "c": {0: {30: 2}, 1: {600: 2, 60: 2}}, "d": {}}


def test_a_range_read_twice_counts_once() -> None:
    series = [np.arange(0, 7200, 30.0)]
    assert count_gaps({"a": series}, {"a": 7100.0})["a"][1] == {30: 3}
    first = count_gaps({"a": series}, {"a": 0.0})["a"]
    assert merge_gaps(first, first, replace=True) == {hour: dict(counts) for hour, counts in first.items()}
    assert merge_gaps({0: {30: 5}}, {1: {30: 2}, 0: {30: 1}}) == {0: {30: 6}, 1: {30: 2}}
    assert merge_gaps({0: {30: 5}}, {24: {30: 2}}) == {24: {30: 2}}
