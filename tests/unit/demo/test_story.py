"""The demo's story: the same numbers for the same start in whatever parts, and everything in it that a buyer knows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

import demo
from demo.domain.declaration import dated
from demo.domain.incidents import INCIDENTS
from demo.domain.machines import MACHINES, Machine
from demo.domain.signals import signals
from demo.domain.story import NO_JOB, Phase, Play, play
from demo.sources.story import StorySource, open_source
from fleet.domain.signals import Signal
from fleet.domain.telemetry import WHOLE, Reading, Span

START = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())  # a Monday
BY_HOST = {machine.host: machine for machine in MACHINES}


def marks(day: int, hour: int, minute: int, until: tuple[int, int, int]) -> NDArray[np.int64]:
    """Give the marks of the samples from one time of the story to another."""
    first = START + ((day * 24 + hour) * 60 + minute) * 60
    last = START + ((until[0] * 24 + until[1]) * 60 + until[2]) * 60
    return np.arange(first + 300, last + 1, 300, dtype=np.int64)


def played(host: str, when: NDArray[np.int64]) -> Play:
    return play(BY_HOST[host], when, START)


def read(first: int, last: int) -> Reading:
    return StorySource(START).read(Span(first, last, first - 300), WHOLE, with_facts=True)


def test_there_are_200_gpus_8_teams_and_4_accounts() -> None:
    assert sum(machine.gpus for machine in MACHINES) == 200
    assert len({machine.team for machine in MACHINES} - {""}) == 8
    assert {machine.account for machine in MACHINES} == {"coreweave-train", "aws-prod", "lambda-dev", "fra1-owned"}
    assert len({machine.uuid(index) for machine in MACHINES for index in range(machine.gpus)}) == 200


def test_the_declared_fleet_is_that_of_the_story() -> None:
    text = (Path(demo.__file__).parent / "fleet.yaml").read_text(encoding="utf-8")
    start = datetime.fromtimestamp(START, UTC)
    declared = yaml.safe_load(dated(text, start, start))
    found = {
        (one["host"], account["name"], one.get("tags", {}).get("team", ""), one["gpu_model"], one["gpu_count"])
        for account in declared["accounts"]
        for one in account["instances"]
    }
    assert found == {(one.host, one.account, one.team, one.model, one.gpus) for one in MACHINES}
    assert {team["name"] for team in declared["teams"]} == {one.team for one in MACHINES} - {""}


def test_times_of_the_story_are_written_out() -> None:
    start, launch = datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 2, 20, tzinfo=UTC)
    text = dated('{at: "{day 28 09:15}", launched_at: "{launch}"}', start, launch)
    assert text == '{at: "2026-03-01T09:15:00Z", launched_at: "2026-02-20T00:00:00Z"}'


def test_the_same_start_gives_the_same_numbers_in_whatever_parts() -> None:
    first, last = START + 300, START + 6 * 3600
    whole = read(first, last)
    half = START + 3 * 3600
    parts = [read(first, half), read(half + 300, last)]
    for signal in Signal:
        for values, pieces in ((whole.mean, [p.mean for p in parts]), (whole.peak, [p.peak for p in parts])):
            np.testing.assert_array_equal(values[signal], np.concatenate([p[signal] for p in pieces], axis=1))
    again = open_source({"start": "2026-03-02T00:00:00Z"}).read(Span(first, last, first - 300), WHOLE, with_facts=True)
    np.testing.assert_array_equal(whole.mean[Signal.POWER_WATTS], again.mean[Signal.POWER_WATTS])


def test_the_numbers_are_those_of_the_seed() -> None:
    reading = read(START + 300, START + 86_400)
    assert float(reading.mean[Signal.SM_ACTIVE].sum(dtype=np.float64)) == pytest.approx(3_798_010.9, abs=1)


def test_another_week_has_other_numbers() -> None:
    week = 7 * 86_400
    early, late = read(START + 300, START + 3600), read(START + week + 300, START + week + 3600)
    assert not np.array_equal(early.mean[Signal.SM_ACTIVE], late.mean[Signal.SM_ACTIVE])


def test_points_come_once_a_minute_under_the_label_of_their_job() -> None:
    reading = read(START + 300, START + 3600)
    assert len(reading.identities) == 200
    per_row = np.zeros(200)
    for one in reading.series:
        per_row[one.row] += len(one.at)
        assert one.at[0] > START
        assert one.at[-1] <= START + 3600
    assert (per_row == 60).all()
    names = {one.labels.get("namespace") for one in reading.series if one.labels["hostname"] == "cw-fnd-01"}
    assert names == {"foundation"}
    slurm = [one.labels.get("hpc_job", "none") for one in reading.series if one.labels["hostname"] == "fra-dat-01"]
    assert any(job.isdecimal() for job in slurm)
    assert not any("pod" in one.labels for one in reading.series if one.labels["hostname"] == "aws-misc-01")


def test_training_is_busy_at_90_percent() -> None:
    one = played("cw-fnd-01", marks(1, 0, 0, until=(4, 0, 0)))
    assert (one.phase == Phase.WORK).mean() > 0.99
    assert one.level.mean() == pytest.approx(90, abs=4)


def test_notebooks_are_forgotten_over_a_weekend() -> None:
    weekend = marks(4, 18, 0, until=(7, 9, 0))  # Friday evening to Monday morning
    held = [h for h in BY_HOST if h.startswith("lam-apr") and (played(h, weekend).phase == Phase.HELD).all()]
    assert 4 <= len(held) < 8
    assert (played(held[0], marks(7, 9, 0, until=(7, 17, 0))).phase == Phase.WORK).any()


def test_serving_has_its_trough_at_night() -> None:
    night, noon = (played("aws-inf-01", marks(2, hour, 0, until=(2, hour + 3, 0))) for hour in (1, 12))
    assert (night.phase == Phase.WORK).all()  # it answers: low, not idle
    assert 8 < night.level.mean() < 16
    assert noon.level.mean() > 60


def test_a_job_hangs_at_100_percent_with_little_power() -> None:
    machine, when = BY_HOST["cw-pst-02"], marks(29, 21, 35, until=(30, 2, 0))
    one = play(machine, when, START)
    mean, peak = signals(machine, one, when)
    assert (one.phase == Phase.SPIN).all()
    assert (mean[Signal.GPU_UTIL] == 100).all()
    assert (peak[Signal.POWER_WATTS] < 0.25 * machine.power_limit_watts).all()
    assert peak[Signal.TENSOR].max() == 0
    before = play(machine, marks(29, 20, 0, until=(29, 21, 25)), START)
    assert (before.phase == Phase.WORK).all()
    assert set(before.job.tolist()) == set(one.job.tolist())


def test_the_collector_is_down_for_40_minutes_and_nothing_is_idle_for_it() -> None:
    when = marks(27, 10, 0, until=(27, 11, 20))
    for machine in MACHINES:
        assert (play(machine, when, START).phase[:, 4:12] == Phase.ABSENT).all()
    assert (played("cw-fnd-01", when).phase == Phase.ABSENT).sum(axis=1).tolist() == [8] * 8


def test_a_file_server_makes_an_account_look_idle_for_50_minutes() -> None:
    when = marks(25, 14, 0, until=(25, 14, 50))
    hosts = [one.host for one in MACHINES if one.account == "coreweave-train" and one.host != "cw-fnd-06"]
    assert all((played(host, when).phase == Phase.HELD).all() for host in hosts)
    assert (played("aws-inf-01", when).phase == Phase.WORK).all()
    assert (played("cw-fnd-01", marks(25, 14, 50, until=(25, 15, 50))).phase == Phase.WORK).all()


def test_one_gpu_of_eight_falls_off() -> None:
    one = played("aws-vis-02", marks(29, 17, 0, until=(29, 23, 0)))
    assert (one.phase == Phase.ABSENT).all(axis=1).tolist() == [False] * 5 + [True] + [False] * 2


def test_reserved_capacity_unassigned_spend_and_a_forgotten_notebook_are_idle_at_the_end() -> None:
    when = marks(29, 18, 0, until=(30, 8, 0))
    assert (played("cw-fnd-06", when).phase == Phase.EMPTY).all()
    assert (played("aws-misc-01", when).phase == Phase.EMPTY).all()
    assert (played("lam-apr-03", when).phase == Phase.HELD).all()
    assert (played("cw-fnd-06", when).job == NO_JOB).all()
    assert BY_HOST["aws-misc-01"].team == ""


def test_a_stopped_machine_says_nothing() -> None:
    assert (played("aws-spc-02", marks(20, 18, 0, until=(22, 0, 0))).phase == Phase.ABSENT).all()
    assert (played("aws-spc-02", marks(20, 12, 0, until=(20, 17, 55))).phase != Phase.ABSENT).all()


def test_before_its_beginning_there_is_nothing() -> None:
    reading = read(START - 3600, START)
    assert not reading.series
    assert StorySource(START).count_series(START - 3600) == 0
    assert StorySource(START).names(START - 7200, START - 3600) == set()


def test_a_day_without_incidents_is_whole() -> None:
    when = marks(3, 0, 0, until=(4, 0, 0))

    def is_seen(machine: Machine) -> bool:
        return bool((play(machine, when, START, incidents=()).phase != Phase.ABSENT).all())

    assert all(map(is_seen, MACHINES))
    assert {one.what.value for one in INCIDENTS} == {"outage", "files", "hang", "lost", "left", "forgotten", "stopped"}
