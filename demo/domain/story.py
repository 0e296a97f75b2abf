"""What each GPU does in each sample: the habit of its machine, and over it what goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from demo.domain.incidents import INCIDENTS, Incident, What
from demo.domain.machines import Habit, Machine
from demo.domain.noise import key_of, noise

HOUR = 3600.0
EVENING = 17.6
SHORT = 0.8  # share of jobs that the next one follows soon
THURSDAY = 3  # the weekday of 1 January 1970, Monday being 0
Levels = NDArray[np.float64]
Phases = NDArray[np.int8]
NO_JOB = -1


class Phase(IntEnum):
    """What a GPU does."""

    ABSENT = 0  # no data
    EMPTY = 1
    HELD = 2
    WORK = 3
    SPIN = 4


@dataclass(frozen=True)
class Play:
    """What the GPUs of one machine do: ``phase`` and ``level`` (percent of what could be computed) [GPUs, marks].

    ``job`` [marks] numbers the jobs of the machine, NO_JOB where there is none.
    """

    phase: Phases
    level: Levels
    job: NDArray[np.int64]


@dataclass(frozen=True)
class When:
    """The samples that end at ``marks`` (epoch seconds), and the hours since the story began at their middles."""

    marks: NDArray[np.int64]
    hours: Levels


def play(machine: Machine, marks: NDArray[np.int64], start: int, incidents: Sequence[Incident] = INCIDENTS) -> Play:
    """Tell what a machine does in the samples that end at ``marks``; the story begins at ``start`` (epoch seconds)."""
    when = When(marks, _hours(marks, start))
    shape = (machine.gpus, len(marks))
    phase = np.full(shape, Phase.EMPTY, dtype=np.int8)
    played = Play(phase, np.zeros(shape), np.full(len(marks), NO_JOB, dtype=np.int64))
    _HABITS[machine.habit](machine, when, played)
    for one in incidents:
        if machine.host in one.hosts and one.what not in UNSEEN:
            _strike(one, when.hours, played, _job_at(one, machine, start))
    phase[:, when.hours < 0] = Phase.ABSENT
    return played


def struck_at(incident: Incident, marks: NDArray[np.int64], start: int) -> NDArray[np.bool_]:
    """Say which of the samples that end at ``marks`` an incident strikes: by their middles."""
    hours = _hours(marks, start)
    return np.asarray((hours > incident.since) & (hours <= incident.ends()))


def _hours(marks: NDArray[np.int64], start: int) -> Levels:
    return np.asarray((marks.astype(np.float64) - 150 - start) / HOUR)


def _ids(machine: Machine) -> NDArray[np.int64]:
    return (np.arange(machine.gpus) + key_of(machine.host))[:, None]


def _clock(marks: NDArray[np.int64]) -> tuple[Levels, NDArray[np.int64]]:
    """Hour of the day, and weekday with Monday 0 (both UTC)."""
    seconds = marks.astype(np.float64) - 150
    return seconds % 86_400 / HOUR, ((seconds // 86_400).astype(np.int64) + THURSDAY) % 7


def _place(machine: Machine, hours: Levels) -> Levels:
    """Hours since a beginning of jobs; machines that work alone are not in step."""
    work = machine.work
    alone = key_of(machine.host) % 997 / 997 * work.hours if machine.habit is Habit.BATCH else 0.0
    return np.asarray(hours + work.offset + alone + work.hours)


def _jobs(machine: Machine, when: When, played: Play) -> None:
    """Job after job at the machine's level, with dips where the loader is slow."""
    work = machine.work
    place = _place(machine, when.hours)
    number = (place // work.hours).astype(np.int64)
    pause = work.pause * np.where(noise("pauses", np.array([key_of(machine.host)]), number) < SHORT, 0.2, 1.0)
    runs = place % work.hours < work.hours - pause
    used = min(work.gpus, machine.gpus)
    base = {Habit.TRAINING: 91.0, Habit.BATCH: 74.0, Habit.SIMULATION: 13.0}[machine.habit]
    wobble = 9 if machine.habit is Habit.BATCH else 4
    own = base + wobble * (noise("job level", np.array([key_of(work.name)]), number)[None, :] - 0.5) * 2
    jitter = 5 * (noise("jitter", _ids(machine), when.marks[None, :]) - 0.5)
    dips = noise("dips", np.array([[key_of(work.name)]]), when.marks[None, :]) < 0.012
    played.level[:used] = np.where(runs, np.where(dips, 1.5, own + jitter[:used]), 0)
    played.phase[:used, runs] = Phase.WORK
    played.job[runs] = number[runs]


def _serving(machine: Machine, when: When, played: Play) -> None:
    """Requests follow the day; at night the replicas wait, hardly asked."""
    clock, weekday = _clock(when.marks)
    day = np.clip(np.sin((clock - 6.5) / 15 * np.pi), 0, None) ** 0.7
    crowd = np.where(weekday >= 5, 0.55, 1.0)
    jitter = noise("requests", _ids(machine), when.marks[None, :])
    played.level[:] = 9 + 62 * day * crowd + 6 * jitter
    played.phase[:] = Phase.WORK
    played.job[:] = 0


def _notebook(machine: Machine, when: When, played: Play) -> None:
    """Someone tries things in office hours; some shut down in the evening, most forget it over the weekend."""
    clock, weekday = _clock(when.marks)
    last, opened = _last_evening(when.marks)
    who = np.array([key_of(machine.host)])
    office = (clock >= 9) & (clock < EVENING) & (weekday < 5)
    works = office & (noise("tries", who, (when.marks - 150) // 1800) < 0.62)
    is_weekend = (last + THURSDAY) % 7 == 4
    forgets = noise("forgets", who, last) < np.where(is_weekend, 0.75, 0.4)
    held = office | (forgets & ~office)
    played.phase[:, held] = Phase.HELD
    played.phase[:, works] = Phase.WORK
    played.level[:] = np.where(works, 18 + 60 * noise("cells", who, (when.marks - 150) // 900), 0)
    played.job[held] = opened[held]


def _last_evening(marks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the day (epoch days) whose evening decides whether a notebook is held now, and the Monday it was opened.

    That of Friday decides about the weekend.
    """
    clock, weekday = _clock(marks)
    is_morning = clock < 9
    back = np.select([weekday == 5, weekday == 6, (weekday == 0) & is_morning, is_morning], [1, 2, 3, 1], 0)
    last = (marks - 150) // 86_400 - back
    return last, last - (last + THURSDAY) % 7


def _by_hand(machine: Machine, when: When, played: Play) -> None:
    """Programs that somebody starts in a shell: no job says whose."""
    block = (when.hours // 10).astype(np.int64)
    works = (noise("shell", np.array([key_of(machine.host)]), block) < 0.7)[None, :]
    played.level[:] = np.where(works, 48 + 12 * noise("jitter", _ids(machine), when.marks[None, :]), 0)
    played.phase[:] = np.where(works, Phase.WORK, Phase.HELD)


_HABITS = {
    Habit.TRAINING: _jobs,
    Habit.BATCH: _jobs,
    Habit.SIMULATION: _jobs,
    Habit.SERVING: _serving,
    Habit.NOTEBOOK: _notebook,
    Habit.BY_HAND: _by_hand,
}
_PHASE_OF = {
    What.OUTAGE: Phase.ABSENT,
    What.LOST: Phase.ABSENT,
    What.STOPPED: Phase.ABSENT,
    What.LEFT: Phase.EMPTY,
    What.FORGOTTEN: Phase.HELD,
    What.HANG: Phase.SPIN,
}
UNSEEN = frozenset({What.COUNTERS, What.BLANK, What.SLOW, What.RENAMED, What.DEARER})
"""What changes nothing of what GPUs do: only what is said of them, or asked for them."""


def _job_at(incident: Incident, machine: Machine, start: int) -> int:
    """Give the number of the job that runs when an incident begins."""
    if machine.habit is Habit.NOTEBOOK:
        return int(_last_evening(np.array([start + int(incident.since * HOUR)]))[1][0])
    if not machine.work.hours:
        return 0
    return int(_place(machine, np.array([incident.since]))[0] // machine.work.hours)


def _strike(incident: Incident, hours: Levels, played: Play, job_then: int) -> None:
    """Let an incident change what a machine does. The job of what hangs or was forgotten does not end."""
    phase, level, job = played.phase, played.level, played.job
    struck = (hours > incident.since) & (hours <= incident.ends())
    rows = slice(None) if incident.gpu is None else slice(incident.gpu, incident.gpu + 1)
    area = phase[rows]
    if incident.what is What.FILES:
        area[(area == Phase.WORK) & struck] = Phase.HELD
    else:
        area[:, struck & (area != Phase.ABSENT).any(axis=0)] = _PHASE_OF[incident.what]
    level[rows, struck] = 0
    if incident.what is What.LEFT:
        job[struck] = NO_JOB
    elif incident.what in (What.HANG, What.FORGOTTEN):
        job[struck] = job_then
