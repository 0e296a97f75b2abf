"""The adapter: the story as `fleet.domain.telemetry.MetricsSource`, scraped once a minute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.errors import OutsideFailed
from common.periods import parse_moment
from demo.domain.exporters import Report, report
from demo.domain.incidents import INCIDENTS, Incident
from demo.domain.machines import MACHINES, Machine
from demo.domain.noise import key_of
from demo.domain.scripts import read_started
from demo.domain.signals import signals
from demo.domain.story import NO_JOB, Phase
from fleet.domain.exporters import DCGM
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.series import Identity, normal_uuid
from fleet.domain.signals import Signal
from fleet.domain.telemetry import RawSeries, Reading, Shard, Span, UpState

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
    """Answers for any time since ``start`` (epoch seconds) and up to any time: the same numbers whoever asks when.

    ``started``: what happens beside the story's own incidents, in hours since its start.
    """

    def __init__(self, start: int, started: Sequence[Incident] = ()) -> None:
        self.start = start
        self.incidents = (*INCIDENTS, *started)
        self.raw_seconds = 86_400.0

    def close(self) -> None:
        """There is nothing to close."""

    def names(self, first: float, last: float) -> set[str]:
        """Give the metric names. Raises OutsideFailed (source_down) while an incident cuts the source off."""
        if any(one.cuts_off and one.covers((last - self.start) / 3600) for one in self.incidents):
            raise OutsideFailed(
                "source_down", "The metrics server of the demo does not answer.", hint="End the incident, or wait."
            )
        return set(NAMES) if last > self.start else set()

    def count_series(self, at: int) -> int:
        """Count the devices in the sample at a mark."""
        return sum(int(one.seen.sum()) for one, _ in self._reports(np.array([at]), Shard()))

    def count_points(self, marks: Marks, shard: Shard) -> tuple[list[Identity], NDArray[np.int32]]:
        """Count raw points per device and mark."""
        identities: list[Identity] = []
        rows: list[NDArray[np.int32]] = []
        for one, kept in self._reports(marks, shard):
            for index in kept:
                if one.seen[index].any():
                    identities.append(identity(one.machine, index))
                    rows.append((one.seen[index] * one.points.sum(axis=1)).astype(np.int32))
        return identities, np.stack(rows) if rows else np.zeros((0, len(marks)), dtype=np.int32)

    def read(self, span: Span, shard: Shard, *, with_facts: bool) -> Reading:
        """Read samples and raw points of a shard; ``with_facts``: memory and power limits too."""
        earliest = int(np.ceil(span.raw_since / STEP_SECONDS)) * STEP_SECONDS
        wide = np.arange(min(earliest, span.first), span.last + 1, STEP_SECONDS, dtype=np.int64)
        skip = int((span.first - wide[0]) // STEP_SECONDS)
        reading = Reading(wide[skip:], [], {}, {}, [])
        means: dict[Signal, list[NDArray[np.float32]]] = {signal: [] for signal in Signal}
        peaks: dict[Signal, list[NDArray[np.float32]]] = {signal: [] for signal in Signal}
        for one, kept in self._reports(wide, shard):
            mean, peak = one.mend(*signals(one.machine, one.played, wide))
            for signal in Signal:
                means[signal].append(mean[signal][kept, skip:])
                peaks[signal].append(peak[signal][kept, skip:])
            for index in kept:
                row = len(reading.identities)
                reading.identities.append(identity(one.machine, index))
                reading.series += list(_series(row, one, index, span.raw_since))
                if with_facts:
                    reading.memory_total_mib[row] = one.machine.memory_mib
                    reading.power_limit_watts[row] = one.machine.power_limit_watts
                reading.bad.update(one.blanks(index, max(span.count_after, float(span.first - STEP_SECONDS))))
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
        for one, _ in self._reports(marks, Shard()):
            for host, here in one.hosts():
                answers = one.seen.any(axis=0) & here
                if answers.any():
                    labels = {"job": "dcgm", "instance": f"{host}:9400"}
                    found.append(UpState(target_of(host), True, float(marks[int(np.argmax(answers))]), labels))
        return found

    def read_gaps(self, targets: list[str], at: int) -> dict[str, list[Times]]:
        """Read the times of raw points of the last 24 hours of a few targets."""
        marks = np.arange(at - 86_400 + STEP_SECONDS, at + 1, STEP_SECONDS, dtype=np.int64)
        found: dict[str, list[Times]] = {}
        for one, _ in self._reports(marks, Shard()):
            for host, here in one.hosts():
                if target_of(host) in targets:
                    found[target_of(host)] = [one.times(one.seen[0] & here)]
        return found

    def _reports(self, marks: Marks, shard: Shard) -> Iterator[tuple[Report, list[int]]]:
        """Give what each machine's exporter says, with the GPUs of it that are in the shard."""
        for machine in MACHINES:
            kept = [index for index in range(machine.gpus) if shard.holds(machine.uuid(index))]
            if kept:
                yield report(machine, marks, self.start, self.incidents), kept


def identity(machine: Machine, index: int) -> Identity:
    """Give who a GPU is."""
    return Identity(normal_uuid(machine.uuid(index)))


def target_of(host: str) -> str:
    """Give the scrape target of a machine."""
    return f"dcgm/{host}:9400"


def _series(row: int, one: Report, index: int, since: float) -> Iterator[RawSeries]:
    """Give the label sets of one GPU: one for each job that held it, one for when nobody did, under each host name."""
    machine, played = one.machine, one.played
    seen = one.seen[index]
    holds = (played.phase[index] > Phase.EMPTY) | (played.job != NO_JOB) & (index < machine.work.gpus)
    job = np.where(holds, played.job, NO_JOB)
    for host, here in one.hosts():
        for number in np.unique(job[seen & here]).tolist():
            at = one.times(seen & here & (job == number))
            at = at[at > since]
            if len(at):
                yield RawSeries(row, DCGM, _labels(machine, host, index, number), target_of(host), at, at)


def _labels(machine: Machine, host: str, index: int, job: int) -> dict[str, str]:
    labels = {
        "uuid": machine.uuid(index), "gpu": str(index), "device": f"nvidia{index}", "hostname": host,
        "modelname": f"NVIDIA {machine.model}", "job": "dcgm", "instance": f"{host}:9400",
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
    start = int(parse_moment(spec["start"]).timestamp())
    begins = datetime.fromtimestamp(start, UTC)
    return StorySource(start, [one.incident(begins) for one in read_started(spec)])
