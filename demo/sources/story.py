"""The adapter: the story as `fleet.domain.telemetry.MetricsSource`, scraped once a minute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.periods import parse_moment
from demo.domain.machines import MACHINES, Machine
from demo.domain.noise import key_of
from demo.domain.signals import signals
from demo.domain.story import NO_JOB, Phase, Play, play
from fleet.domain.exporters import DCGM
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.series import Identity, normal_uuid
from fleet.domain.signals import Signal
from fleet.domain.telemetry import RawSeries, Reading, Shard, Span, UpState

SCRAPE_SECONDS = 60
NAMES = frozenset(
    {
        "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_SM_ACTIVE",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_DEV_ENC_UTIL", "DCGM_FI_DEV_DEC_UTIL",
        "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_TEMP",
    }
)  # fmt: skip
"""The series that such an exporter would have."""
Times = NDArray[np.float64]
Marks = NDArray[np.int64]


class StorySource:
    """Answers for any time since ``start`` (epoch seconds) and up to any time: the same numbers whoever asks when."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.raw_seconds = 86_400.0

    def close(self) -> None:
        """There is nothing to close."""

    def names(self, first: float, last: float) -> set[str]:
        """Give the metric names."""
        return set(NAMES) if last > self.start else set()

    def count_series(self, at: int) -> int:
        """Count the devices in the sample at a mark."""
        return sum(int(self._seen(played).sum()) for _, played, _ in self._plays(np.array([at]), Shard()))

    def count_points(self, marks: Marks, shard: Shard) -> tuple[list[Identity], NDArray[np.int32]]:
        """Count raw points per device and mark."""
        identities: list[Identity] = []
        rows: list[NDArray[np.int32]] = []
        for machine, played, kept in self._plays(marks, shard):
            seen = self._seen(played)
            for index in kept:
                if seen[index].any():
                    identities.append(identity(machine, index))
                    rows.append((seen[index] * (STEP_SECONDS // SCRAPE_SECONDS)).astype(np.int32))
        return identities, np.stack(rows) if rows else np.zeros((0, len(marks)), dtype=np.int32)

    def read(self, span: Span, shard: Shard, *, with_facts: bool) -> Reading:
        """Read samples and raw points of a shard; ``with_facts``: memory and power limits too."""
        earliest = int(np.ceil(span.raw_since / STEP_SECONDS)) * STEP_SECONDS
        wide = np.arange(min(earliest, span.first), span.last + 1, STEP_SECONDS, dtype=np.int64)
        skip = int((span.first - wide[0]) // STEP_SECONDS)
        reading = Reading(wide[skip:], [], {}, {}, [])
        means: dict[Signal, list[NDArray[np.float32]]] = {signal: [] for signal in Signal}
        peaks: dict[Signal, list[NDArray[np.float32]]] = {signal: [] for signal in Signal}
        for machine, played, kept in self._plays(wide, shard):
            mean, peak = signals(machine, played, wide)
            for signal in Signal:
                means[signal].append(mean[signal][kept, skip:])
                peaks[signal].append(peak[signal][kept, skip:])
            for index in kept:
                row = len(reading.identities)
                reading.identities.append(identity(machine, index))
                reading.series += list(_series((row, machine, index), played, wide, span.raw_since))
                if with_facts:
                    reading.memory_total_mib[row] = machine.memory_mib
                    reading.power_limit_watts[row] = machine.power_limit_watts
        if reading.identities:
            reading.mean |= {signal: np.concatenate(values) for signal, values in means.items()}
            reading.peak |= {signal: np.concatenate(values) for signal, values in peaks.items()}
        return reading

    def read_up(self, jobs: set[str], span: Span) -> list[UpState]:
        """Say which exporters answer; while the collector is down nothing says anything, so no target is down."""
        if "dcgm" not in jobs:
            return []
        marks = np.arange(span.first, span.last + 1, STEP_SECONDS, dtype=np.int64)
        found = []
        for machine, played, _ in self._plays(marks, Shard()):
            answers = self._seen(played).any(axis=0)
            if answers.any():
                labels = {"job": "dcgm", "instance": f"{machine.host}:9400"}
                since = float(marks[int(np.argmax(answers))])
                found.append(UpState(target_of(machine), True, since, labels))
        return found

    def read_gaps(self, targets: list[str], at: int) -> dict[str, list[Times]]:
        """Read the times of raw points of the last 24 hours of a few targets."""
        marks = np.arange(at - 86_400 + STEP_SECONDS, at + 1, STEP_SECONDS, dtype=np.int64)
        found: dict[str, list[Times]] = {}
        for machine, played, _ in self._plays(marks, Shard()):
            if target_of(machine) in targets:
                found[target_of(machine)] = [_points(machine, marks[played.phase[0] != Phase.ABSENT])]
        return found

    def _plays(self, marks: Marks, shard: Shard) -> Iterator[tuple[Machine, Play, list[int]]]:
        """Give each machine with the GPUs of it that are in the shard."""
        for machine in MACHINES:
            kept = [index for index in range(machine.gpus) if shard.holds(machine.uuid(index))]
            if kept:
                yield machine, play(machine, marks, self.start), kept

    @staticmethod
    def _seen(played: Play) -> NDArray[np.bool_]:
        return np.asarray(played.phase != Phase.ABSENT)


def identity(machine: Machine, index: int) -> Identity:
    """Give who a GPU is."""
    return Identity(normal_uuid(machine.uuid(index)))


def target_of(machine: Machine) -> str:
    """Give the scrape target of a machine."""
    return f"dcgm/{machine.host}:9400"


def _points(machine: Machine, marks: Marks) -> Times:
    """Give the times of the scrapes in the samples that end at ``marks``."""
    first = key_of(machine.host) % SCRAPE_SECONDS + 1
    steps = np.arange(first, STEP_SECONDS + 1, SCRAPE_SECONDS) - STEP_SECONDS
    return (marks[:, None] + steps[None, :]).ravel().astype(np.float64)


def _series(gpu: tuple[int, Machine, int], played: Play, marks: Marks, since: float) -> Iterator[RawSeries]:
    """Give the label sets of one GPU: one for each job that held it, one for when nobody did."""
    row, machine, index = gpu
    seen = played.phase[index] != Phase.ABSENT
    holds = (played.phase[index] > Phase.EMPTY) | (played.job != NO_JOB) & (index < machine.work.gpus)
    job = np.where(holds, played.job, NO_JOB)
    for number in np.unique(job[seen]).tolist():
        at = _points(machine, marks[seen & (job == number)])
        at = at[at > since]
        if len(at):
            yield RawSeries(row, DCGM, _labels(machine, index, number), target_of(machine), at, at)


def _labels(machine: Machine, index: int, job: int) -> dict[str, str]:
    labels = {
        "uuid": machine.uuid(index), "gpu": str(index), "device": f"nvidia{index}", "hostname": machine.host,
        "modelname": f"NVIDIA {machine.model}", "job": "dcgm", "instance": f"{machine.host}:9400",
    }  # fmt: skip
    if job == NO_JOB or machine.scheduler == "none":
        return labels
    name = machine.work.name
    if machine.scheduler == "slurm":
        return labels | {"hpc_job": str(key_of(f"{machine.host} {job}") % 90_000 + 10_000), "user": "dataops"}
    tail = f"{key_of(f'{name} {job}') % 0xFFFFF:05x}"
    return labels | {"pod": f"{name}-{tail}", "namespace": machine.team, "container": "main"}


def open_source(spec: Mapping[str, Any], *, scripted_at: datetime | None = None) -> StorySource:  # noqa: ARG001
    """Open the story that begins at the ``start`` of the source's declaration; it needs no pretended now."""
    return StorySource(int(parse_moment(spec["start"]).timestamp()))
