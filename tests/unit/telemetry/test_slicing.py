from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fleet.domain.slicing import lookback_seconds, plan_shards, plan_slices
from fleet.domain.telemetry import WHOLE


@given(st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=40), st.integers(1, 100_000))
def test_every_device_is_in_exactly_one_shard(uuid: str, devices: int) -> None:
    assert sum(shard.holds(uuid) for shard in plan_shards(devices)) == 1


def test_a_fleet_falls_apart_evenly() -> None:
    shards = plan_shards(10_000)
    counts = [sum(shard.holds(f"GPU-{i:032x}") for i in range(4096)) for shard in shards]
    assert counts == [2048, 2048]
    deep = [half for shard in plan_shards(80_000) for half in shard.halves()]
    assert {sum(shard.holds(f"GPU-{i:032x}") for i in range(4096)) for shard in deep} == {128}


def test_slices_meet_and_end_on_hours() -> None:
    slices = plan_slices(3900, 400_200, 1000, 60)
    marks = [mark for piece in slices for mark in range(piece.first, piece.last + 1, 300)]
    assert marks == list(range(3900, 400_201, 300))
    assert all(piece.last % 3600 == 0 for piece in slices[:-1])
    assert all(piece.last - piece.first < 86_400 for piece in slices)
    assert slices[0].raw_since == 3600 - 60


def test_a_live_pull_is_one_slice_of_one_shard() -> None:
    assert plan_shards(3) == [WHOLE]
    assert [(piece.first, piece.last) for piece in plan_slices(3600, 4500, 3, 0)] == [(3600, 4500)]


def test_how_far_back_raw_points_are_read() -> None:
    assert lookback_seconds([30, 60], is_backfill=False) == 181
    assert lookback_seconds([600], is_backfill=False) == 1801
    assert lookback_seconds([30, None], is_backfill=False) == lookback_seconds([], is_backfill=False) == 1801
    assert lookback_seconds([30], is_backfill=True) == 1801
