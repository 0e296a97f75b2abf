"""Runs of provider states from what inventories say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from common.periods import BEGINNING
from fleet.domain.inventory import (
    ObservedInstance,
    ProviderState,
    StateRun,
    first_difference,
    first_runs,
    last_start,
    next_runs,
    state_at,
)

RUNNING, STOPPED, TERMINATED = ProviderState.RUNNING, ProviderState.STOPPED, ProviderState.TERMINATED


def at(hour: int) -> datetime:
    return datetime(2025, 6, 2, tzinfo=UTC) + timedelta(hours=hour)


def seen(state: ProviderState = RUNNING, **facts: object) -> ObservedInstance:
    return replace(ObservedInstance("i-1", "node-1", state), **facts)  # type: ignore[arg-type]


def test_a_running_one_runs_from_its_last_start_else_its_launch_else_always() -> None:
    assert first_runs(seen(launched_at=at(0), last_started_at=at(5))) == [StateRun(at(5), None, RUNNING)]
    assert first_runs(seen(launched_at=at(0))) == [StateRun(at(0), None, RUNNING)]
    assert first_runs(seen()) == [StateRun(BEGINNING, None, RUNNING)]


def test_a_stopped_one_without_a_time_has_been_stopped_since_its_launch() -> None:
    assert first_runs(seen(STOPPED, launched_at=at(0), last_started_at=at(5))) == [StateRun(at(0), None, STOPPED)]
    assert first_runs(seen(STOPPED)) == [StateRun(BEGINNING, None, STOPPED)]


def test_a_stopped_one_ran_from_its_last_start_to_its_stop() -> None:
    assert first_runs(seen(STOPPED, launched_at=at(0), last_started_at=at(5), stopped_at=at(9))) == [
        StateRun(at(5), at(9), RUNNING),
        StateRun(at(9), None, STOPPED),
    ]
    assert first_runs(seen(STOPPED, stopped_at=at(9))) == [StateRun(at(9), None, STOPPED)]


def test_a_history_tells_all() -> None:
    history = ((at(1), RUNNING), (at(10), STOPPED), (at(240), RUNNING), (at(246), TERMINATED))
    assert first_runs(seen(TERMINATED, history=history)) == [
        StateRun(at(1), at(10), RUNNING),
        StateRun(at(10), at(240), STOPPED),
        StateRun(at(240), at(246), RUNNING),
        StateRun(at(246), None, TERMINATED),
    ]


def test_it_ran_from_its_launch_to_the_first_entry() -> None:
    assert first_runs(seen(STOPPED, launched_at=at(0), history=((at(3), STOPPED),))) == [
        StateRun(at(0), at(3), RUNNING),
        StateRun(at(3), None, STOPPED),
    ]


def test_another_state_begins_where_the_listing_says_so_else_now() -> None:
    known = [StateRun(at(0), None, RUNNING)]
    stopped = [StateRun(at(0), at(8), RUNNING), StateRun(at(8), None, STOPPED)]
    assert next_runs(known, seen(STOPPED, stopped_at=at(8)), at(10)) == stopped
    assert next_runs(known, seen(STOPPED), at(8)) == stopped
    assert next_runs(known, seen(STOPPED, stopped_at=at(20)), at(8)) == stopped  # a time that has not come
    assert next_runs(stopped, seen(last_started_at=at(9)), at(10)) == [
        *stopped[:1],
        StateRun(at(8), at(9), STOPPED),
        StateRun(at(9), None, RUNNING),
    ]


def test_the_same_state_changes_nothing() -> None:
    known = [StateRun(at(0), None, RUNNING)]
    assert next_runs(known, seen(launched_at=at(0), last_started_at=at(0)), at(10)) == known


def test_a_newer_start_of_a_running_one_is_a_restart() -> None:
    known = [StateRun(at(0), None, RUNNING)]
    assert next_runs(known, seen(last_started_at=at(7)), at(10)) == [
        StateRun(at(0), at(7), RUNNING),
        StateRun(at(7), None, RUNNING),
    ]


def test_first_difference() -> None:
    runs = [StateRun(at(0), at(8), RUNNING), StateRun(at(8), None, STOPPED)]
    assert first_difference(runs, runs) is None
    assert first_difference([StateRun(at(0), None, RUNNING)], runs) == at(8)
    assert first_difference(runs, [StateRun(at(1), at(8), RUNNING), runs[1]]) == at(0)
    assert first_difference([], runs) == at(0)
    assert first_difference(runs[:1], runs) == at(8)


def test_last_start() -> None:
    runs = [StateRun(at(0), at(8), RUNNING), StateRun(at(8), at(9), STOPPED), StateRun(at(9), None, RUNNING)]
    assert [last_start(runs, at(hour)) for hour in (0, 8, 9, 20)] == [at(0), at(0), at(9), at(9)]
    assert last_start([StateRun(BEGINNING, None, RUNNING)], at(0)) is None


_HOURS = st.integers(0, 200)
_STATES = st.sampled_from([RUNNING, STOPPED, TERMINATED])
_SEEN = st.builds(
    lambda state, launch, start, stop: seen(
        state,
        launched_at=at(launch) if launch is not None else None,
        last_started_at=at((launch or 0) + start) if start is not None else None,
        stopped_at=at((launch or 0) + stop) if stop is not None else None,
    ),
    _STATES,
    st.none() | _HOURS,
    st.none() | _HOURS,
    st.none() | _HOURS,
)


@given(st.lists(st.tuples(_SEEN, _HOURS), min_size=1, max_size=6))
def test_runs_stay_in_order_and_the_past_stays(listings: list[tuple[ObservedInstance, int]]) -> None:
    runs: list[StateRun] = []
    moments = sorted(hour for _, hour in listings)
    for (listing, _), hour in zip(listings, moments, strict=True):
        before = runs
        runs = next_runs(runs, listing, at(hour))
        assert runs[-1].end is None
        assert runs[-1].state is listing.state
        for earlier, later in pairwise(runs):
            assert earlier.end is not None
            assert earlier.start < earlier.end <= later.start
        assert next_runs(runs, listing, at(hour)) == runs  # the same listing again
        change = first_difference(before, runs)
        if before and change is not None:
            assert [run for run in before if run.end and run.end <= change] == runs[
                : len([run for run in before if run.end and run.end <= change])
            ]


@given(st.lists(st.tuples(_SEEN, _HOURS), min_size=1, max_size=6), _HOURS)
def test_difference_is_where_the_state_first_differs(listings: list[tuple[ObservedInstance, int]], probe: int) -> None:
    runs: list[StateRun] = []
    for listing, hour in listings:
        runs, before = next_runs(runs, listing, at(hour)), runs
        change = first_difference(before, runs)
        if change is None or at(probe) < change:
            old, new = state_at(before, at(probe)), state_at(runs, at(probe))
            assert (old and old.state) == (new and new.state)
