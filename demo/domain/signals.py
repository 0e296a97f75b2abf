"""From what a GPU does to what an exporter would say of it: mean and peak of every signal in each sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demo.domain.machines import Machine
from demo.domain.noise import key_of, noise
from demo.domain.story import Phase, Play
from fleet.domain.signals import Signal

Matrix = NDArray[np.float32]
Levels = NDArray[np.float64]


def signals(
    machine: Machine, played: Play, marks: NDArray[np.int64]
) -> tuple[dict[Signal, Matrix], dict[Signal, Matrix]]:
    """Give mean and peak, [GPUs, marks] each; NaN where there is no data."""
    phase, level = played.phase, np.clip(played.level, 0, 99)
    works, spins, held = phase == Phase.WORK, phase == Phase.SPIN, phase == Phase.HELD
    gpu = (np.arange(machine.gpus) + key_of(machine.host))[:, None]
    burst = np.where(works, 2 + 6 * noise("burst", gpu, marks[None, :]), 0)
    limit, total = machine.power_limit_watts, machine.memory_mib
    flicker = noise("power", gpu, marks[None, :])
    share = 0.42 + 0.5 * noise("memory", np.array([[key_of(machine.work.name)]]), played.job[None, :])
    mean = {
        Signal.GPU_UTIL: np.where(spins, 100, np.where(works, np.minimum(100, level * 1.05 + 4), 0)),
        Signal.GR_ENGINE: np.where(spins, 99, level * 1.01),
        Signal.SM_ACTIVE: np.where(spins, 14, level),
        Signal.TENSOR: np.where(works, level * 0.45, 0),
        Signal.DRAM: np.where(works, level * 0.5, np.where(spins, 0.3, 0)),
        Signal.ENCODER: np.zeros(phase.shape),
        Signal.DECODER: np.zeros(phase.shape),
        Signal.MEMORY_MIB: np.where(works | spins | held, total * share, 4.0),
        Signal.POWER_WATTS: _power(limit, level, flicker, played),
        Signal.TEMPERATURE_C: 29 + np.where(works, 44 * level / 100, np.where(spins, 14, held * 3)) + flicker,
    }
    climbs = {Signal.GPU_UTIL: 1.0, Signal.GR_ENGINE: 1.0, Signal.SM_ACTIVE: 1.0, Signal.TENSOR: 0.6, Signal.DRAM: 0.5}
    peak = {signal: values + burst * climbs.get(signal, 0.0) for signal, values in mean.items()}
    peak[Signal.POWER_WATTS] = np.minimum(limit * 1.02, mean[Signal.POWER_WATTS] + burst / 100 * limit)
    for signal in climbs:
        peak[signal] = np.minimum(peak[signal], 100)
    absent = phase == Phase.ABSENT
    return _without(mean, absent), _without(peak, absent)


def _power(limit: float, level: Levels, flicker: Levels, played: Play) -> Levels:
    busy = 0.2 + 0.72 * level / 100 + 0.03 * flicker
    idle = 0.1 + 0.02 * (played.phase == Phase.HELD) + 0.004 * flicker
    spin = 0.24 + 0.005 * flicker  # flat: nothing is computed
    chosen = np.where(played.phase == Phase.WORK, busy, np.where(played.phase == Phase.SPIN, spin, idle))
    return np.asarray(limit * chosen)


def _without(values: dict[Signal, Levels], absent: NDArray[np.bool_]) -> dict[Signal, Matrix]:
    return {signal: np.where(absent, np.nan, one).astype(np.float32) for signal, one in values.items()}
