from __future__ import annotations

import pytest

from fleet.domain.exporters import DCGM, DIALECTS, METRICS, Attribute, known_metrics
from fleet.domain.signals import Signal


def test_a_name_means_one_thing() -> None:
    names = [metric.name for metric in METRICS]
    assert len(names) == len(set(names))


def test_every_dialect_has_a_way_to_tell_activity_or_is_no_dialect() -> None:
    for dialect in DIALECTS:
        assert any(metric.dialect is dialect and metric.means is Signal.GPU_UTIL for metric in METRICS), dialect.key


@pytest.mark.parametrize(
    ("name", "raw", "means", "kept"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", 61, Signal.GPU_UTIL, 61),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", 61, Signal.GPU_UTIL, 61),  # percent in spite of its name
        ("DCGM_FI_PROF_SM_UTIL_RATIO", 0.41, Signal.SM_ACTIVE, 41),
        ("dcgm_fi_prof_dram_active", 0.31, Signal.DRAM, 31),
        ("nvidia_smi_utilization_gpu_ratio", 0.25, Signal.GPU_UTIL, 25),
        ("nvidia_smi_memory_used_bytes", 20780679168, Signal.MEMORY_MIB, 19818),
        ("nvidia_gpu_power_usage_milliwatts", 311204, Signal.POWER_WATTS, 311.204),
        ("slurm_job_power_gpu", 287410.0, Signal.POWER_WATTS, 287.41),
        ("gpu_umc_activity", 43, Signal.DRAM, 43),
        ("amd_gpu_used_vram", 19022, Signal.MEMORY_MIB, 19022),
        ("hw_gpu_utilization_ratio", 0.81, Signal.GPU_UTIL, 81),
        ("dcgm_fb_free", 15109, Attribute.MEMORY_FREE_MIB, 15109),
    ],
)
def test_scales(name: str, raw: float, means: Signal | Attribute, kept: float) -> None:
    (metric,) = known_metrics({name, "up"})
    assert metric.means is means
    assert raw * metric.scale == pytest.approx(kept, rel=1e-4)


def test_an_upgrade_renames_within_one_rank() -> None:
    old, new = known_metrics({"DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS"})
    assert (old.dialect, old.means, old.rank) == (new.dialect, new.means, new.rank) == (DCGM, Signal.POWER_WATTS, 0)


def test_names_of_nvlink_switches_and_cpus_are_not_in_the_table() -> None:
    assert known_metrics({"DCGM_FI_DEV_NVLINK_BANDWIDTH_L0", "DCGM_FI_DEV_CPU_UTIL_TOTAL", "nvidia_smi_index"}) == []
