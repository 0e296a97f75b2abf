from __future__ import annotations

import numpy as np

from fleet.domain.runs import Run, end_in_time, replace_window, runs_of

POINTS = np.arange(0, 600, 30.0)


def test_two_missing_scrapes_are_held_and_three_are_not() -> None:
    assert runs_of(POINTS, {"a": np.delete(POINTS, [5, 6])}, 30) == [Run("a", 0, None)]
    assert runs_of(POINTS, {"a": np.delete(POINTS, [5, 6, 7])}, 30) == [Run("a", 0, 120), Run("a", 210, None)]


def test_a_run_starts_at_the_point_before_it() -> None:
    assert runs_of(POINTS, {"a": POINTS[:10], "b": POINTS[10:]}, 30) == [Run("a", 0, 270), Run("b", 270, None)]


def test_a_run_is_open_while_at_most_two_points_follow() -> None:
    assert runs_of(POINTS, {"a": POINTS[:-2]}, 30) == [Run("a", 0, None)]
    assert runs_of(POINTS, {"a": POINTS[:-3]}, 30) == [Run("a", 0, 480)]


def test_a_window_replaces_what_it_saw() -> None:
    old = [Run("a", 0, None)]
    new = [Run("a", 300, 420), Run("b", 420, None)]
    assert replace_window(old, new, since=300, until=600, is_newest=True, tolerance=1) == [
        Run("a", 0, 420),
        Run("b", 420, None),
    ]


def test_an_older_window_leaves_what_came_after() -> None:
    old = [Run("b", 900, None)]
    found = replace_window(old, [Run("a", 0, None)], since=0, until=600, is_newest=False, tolerance=1)
    assert sorted(found, key=lambda run: run.start) == [Run("a", 0, 600), Run("b", 900, None)]
    joined = replace_window(
        [Run("a", 600, None)], [Run("a", 0, None)], since=0, until=600, is_newest=False, tolerance=1
    )
    assert joined == [Run("a", 0, None)]


def test_the_same_window_again_changes_nothing() -> None:
    new = [Run("a", 300, 420), Run("b", 420, None)]
    once = replace_window([], new, since=300, until=600, is_newest=True, tolerance=1)
    assert replace_window(once, new, since=300, until=600, is_newest=True, tolerance=1) == once


def test_a_run_ends_where_the_points_before_the_window_show_it() -> None:
    assert end_in_time([Run("a", 0, None)], [Run("a", 200, 275)], since=300) == [Run("a", 0, 275)]
    assert end_in_time([Run("a", 0, None)], [Run("a", 200, 275), Run("a", 290, None)], since=300) == [Run("a", 0, None)]
    assert end_in_time([Run("a", 0, None)], [Run("b", 200, 275)], since=300) == [Run("a", 0, None)]
    assert end_in_time([Run("a", 0, 100)], [Run("a", 50, 100)], since=300) == [Run("a", 0, 100)]
