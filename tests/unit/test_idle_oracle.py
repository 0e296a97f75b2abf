"""The rule on arrays says what the slow reading of the same words says, and folds alike in any chunks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.domain.idle import REASONS, STATES, Carry, Track, follow, midway
from fleet.domain.idle_rule import NEVER
from fleet.domain.samples import SampleBlock
from tests.unit.histories import BASE, STEP, block_of, devices, gpu_facts, histories, rule_of, rules
from tests.unit.idle_oracle import Device, Reader, Said, Sample, Words

LENGTH = 60
GPUS = st.lists(st.tuples(histories(LENGTH), devices(LENGTH)), min_size=1, max_size=3)


def said(track: Track, g: int) -> list[Said]:
    return [
        Said(
            str(STATES[track.state[g, n]]),
            str(REASONS[track.reason[g, n]]),
            None if track.since[g, n] == NEVER else float(track.since[g, n]),
            float(track.minutes[g, n]),
            bool(track.is_open[g, n]),
            bool(track.in_run[g, n]),
        )
        for n in range(len(track.marks))
    ]


@settings(max_examples=250, deadline=None)
@given(gpus=GPUS, words=rules())
def test_arrays_and_slow_reading_agree(gpus: list[tuple[list[Sample], Device]], words: Words) -> None:
    block = block_of([samples for samples, _ in gpus], LENGTH)
    track = follow(block, gpu_facts([device for _, device in gpus]), rule_of(words))
    for g, (samples, device) in enumerate(gpus):
        assert said(track, g) == Reader(samples, device, words).read([int(mark) for mark in block.marks])


def test_a_gpu_that_is_idle_in_its_very_first_sample_has_its_episode_open() -> None:
    """Scraped every half hour, started a quarter of an hour before: one point tells the whole window."""
    sample = Sample(BASE + 300, 1, 1800, BASE + 100.0, BASE + 100.0, 30.0, {"gpu_util": 0.0, "memory_mib": 100.0})
    device, words = Device(starts=(BASE - 720.0,)), Words(5.0, 900, 900, 80.0, 0)
    track = follow(block_of([[sample]], 1), gpu_facts([device]), rule_of(words))
    assert said(track, 0) == Reader([sample], device, words).read([BASE + 300])
    assert (bool(track.is_open[0, 0]), bool(track.in_run[0, 0])) == (True, True)


def part(block: SampleBlock, first: int, last: int) -> SampleBlock:
    at = slice(first, last)
    return SampleBlock(
        block.gpu_ids,
        block.marks[at],
        block.points[:, at],
        block.interval[:, at],
        block.first_at[:, at],
        block.last_at[:, at],
        block.minutes[:, at],
        {s: v[:, at] for s, v in block.mean.items()},
        {s: v[:, at] for s, v in block.peak.items()},
    )


@settings(max_examples=150, deadline=None)
@given(gpus=GPUS, words=rules(), cuts=st.sets(st.integers(1, LENGTH - 1), max_size=6))
def test_folding_in_chunks_is_folding_at_once(
    gpus: list[tuple[list[Sample], Device]], words: Words, cuts: set[int]
) -> None:
    block, facts, rule = block_of([s for s, _ in gpus], LENGTH), gpu_facts([d for _, d in gpus]), rule_of(words)
    whole = follow(block, facts, rule)
    carry: Carry | None = None
    pieces: list[Track] = []
    edges = [0, *sorted(cuts), LENGTH]
    for first, last in pairwise(edges):
        track = follow(part(block, max(0, first - rule.reach_seconds // STEP), last), facts, rule, carry)
        carry = Carry.from_bytes(track.carry.mark, track.carry.to_bytes())
        pieces.append(track)
    for name in ("state", "reason", "since", "minutes", "is_open", "in_run", "coverage_pct"):
        together = np.concatenate([getattr(piece, name) for piece in pieces], axis=1)
        np.testing.assert_array_equal(together, getattr(whole, name), err_msg=name)
    assert carry is not None
    assert carry.rows.tobytes() == whole.carry.rows.tobytes()


@settings(max_examples=150, deadline=None)
@given(gpus=GPUS, words=rules(), begin=st.integers(1, LENGTH - 1))
def test_where_two_suppositions_agree_the_past_does_not_matter(
    gpus: list[tuple[list[Sample], Device]], words: Words, begin: int
) -> None:
    block, facts, rule = block_of([s for s, _ in gpus], LENGTH), gpu_facts([d for _, d in gpus]), rule_of(words)
    all_begun = all(s and s[0].mark <= block.marks[begin - 1] for s, _ in gpus)
    if LENGTH - begin <= rule.reach_seconds // STEP or not all_begun:
        return
    truth = follow(block, facts, rule).carry.rows
    mark = int(block.marks[begin - 1])
    first_marks = np.array([s[0].mark for s, _ in gpus], dtype=np.float64)
    known = facts.latest_start(block.marks[begin - 1 : begin])[:, 0]
    starts = np.where(known > NEVER, known, first_marks)
    ends = [
        follow(part(block, begin, LENGTH), facts, rule, midway(starts, mark, is_open=supposed)).carry.rows
        for supposed in (False, True)
    ]
    same = np.ones(len(gpus), dtype=bool)
    for name in ("since", "minutes", "is_open", "in_run"):
        same &= ends[0][name] == ends[1][name]
    same &= ends[0]["since"] > NEVER
    for name in ("since", "minutes", "is_open", "in_run"):
        np.testing.assert_array_equal(ends[0][name][same], truth[name][same], err_msg=name)
