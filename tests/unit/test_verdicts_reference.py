"""The worked table of docs/reference/verdicts.md is true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.domain.idle import REASONS, STATES, IdleRule, facts_of, follow
from fleet.domain.samples import empty_block
from fleet.domain.signals import Signal
from tests.unit.idle_oracle import Device, Reader, Sample, Words

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "verdicts.md"
BASE = 1_748_908_800
MEMORY = {"held": 40_000.0, "empty": 10.0, "unknown": np.nan}


def rows() -> list[list[str]]:
    table = PAGE.read_text(encoding="utf-8").split("### Worked examples")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def samples(history: str, memory: str) -> list[Sample]:
    found: list[Sample] = []
    for n, letter in enumerate(history, start=1):
        if letter == "-":
            continue
        mark = BASE + n * 300
        minutes = 0.0 if not found else min(300.0, mark - found[-1].mark) / 60
        peaks = {"B": {"gpu_util": 90.0}, ".": {"gpu_util": 0.0}, "?": {}}[letter]
        if memory != "unknown":
            peaks = peaks | {"memory_mib": MEMORY[memory]}
        found.append(Sample(mark, 1, 300, mark, mark, minutes, peaks))
    return found


def test_the_table_has_rows() -> None:
    assert len(rows()) >= 15


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]} {row[1]}")
def test_worked_example(row: list[str]) -> None:
    history, memory, started, state, reason, since, minutes = row
    start = float(BASE - 300 * int(started or 24))
    seen = samples(history, memory)
    marks = np.arange(1, len(history) + 1, dtype=np.int64) * 300 + BASE
    block = empty_block(np.array([1], dtype=np.int64), marks)
    for sample in seen:
        n = (sample.mark - BASE) // 300 - 1
        block.points[0, n], block.interval[0, n], block.minutes[0, n] = 1, 300, sample.minutes
        block.first_at[0, n] = block.last_at[0, n] = sample.mark
        for name, peak in sample.peaks.items():
            block.peak[Signal(name)][0, n] = block.mean[Signal(name)][0, n] = peak
    track = follow(block, facts_of(1, started_at=start), IdleRule())
    said = (
        str(STATES[track.state[0, -1]]), str(REASONS[track.reason[0, -1]]),
        str(int(track.since[0, -1] - BASE) // 300), f"{track.minutes[0, -1]:g}",
    )  # fmt: skip
    assert said == (state, reason, since, minutes)
    slow = Reader(seen, Device(starts=(start,)), Words(5, 3600, 1800, 80, 1800)).read([int(mark) for mark in marks])[-1]
    assert (slow.state, slow.reason) == (state, reason)
