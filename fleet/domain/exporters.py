"""Names, labels and scales of GPU exporters as one table: a new exporter is a few rows here and nothing elsewhere.

A `Dialect` says which labels identify a device; a `Metric` says which series carries which signal, and what to
multiply it by. Within one dialect and signal, metrics of one ``rank`` are the same quantity under two names (an
upgrade renames it, so their raw points are united); a higher rank is another quantity, used only where the lower one
is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fleet.domain.signals import Signal

MIB = 1 / 2**20


class Attribute(StrEnum):
    """Facts of a device that exporters give as series."""

    MEMORY_TOTAL_MIB = "memory_total_mib"
    MEMORY_FREE_MIB = "memory_free_mib"
    MEMORY_RESERVED_MIB = "memory_reserved_mib"
    POWER_LIMIT_WATTS = "power_limit_watts"


@dataclass(frozen=True)
class Dialect:
    """How one exporter labels its devices. Label names are exact, as PromQL needs them."""

    key: str
    title: str
    identity: tuple[str, ...]  # the first one present is the UUID; sharding goes by the first
    mig: str = ""  # label of the MIG instance
    split: str = ""  # label that multiplies one device: sharers, partitions, tasks
    split_wins: str = ""  # the value of ``split`` that stands for the whole device
    vendor: str = "nvidia"
    joined_identity: bool = False  # the UUID is all ``identity`` labels joined, not the first present
    info: str = ""  # series whose labels hold model and index, joined by UUID

    @property
    def by(self) -> tuple[str, ...]:
        """Labels to aggregate by: what is left of a device when pods, replicas and exporters are summed away."""
        return (*self.identity, *((self.mig,) if self.mig else ()), *((self.split,) if self.split else ()))


@dataclass(frozen=True)
class Metric:
    """One series name: ``value * scale`` is in the unit of the signal."""

    name: str
    dialect: Dialect
    means: Signal | Attribute
    scale: float = 1.0
    rank: int = 0
    matcher: str = ""  # extra label matchers
    is_summed: bool = False  # over ``split``: partitions that each hold a part


DCGM = Dialect("dcgm", "DCGM exporter", ("UUID",), mig="GPU_I_ID", split="vgpu")
DCGM_LOWER = Dialect("dcgm_lower", "DCGM exporter, lower-cased (Azure)", ("uuid",), mig="gpu_i_id", split="vgpu")
DCGM_OLD = Dialect("dcgm_old", "DCGM exporter 1.x", ("uuid", "UUID"))
SMI = Dialect("nvidia_gpu_exporter", "nvidia_gpu_exporter", ("uuid",), info="nvidia_smi_gpu_info")
JOBSTATS = Dialect("jobstats", "jobstats GPU exporter", ("uuid",))
SLURM_JOB = Dialect("slurm_job_exporter", "slurm-job-exporter", ("gpu",))
AMD = Dialect(
    "amd",
    "AMD device metrics exporter",
    ("gpu_uuid", "GPU_UUID"),
    split="gpu_partition_id",
    split_wins="0",
    vendor="amd",
)
INTEL = Dialect(
    "intel",
    "Intel XPU manager",
    ("node", "pci_bdf"),
    split="hw_gpu_task",
    split_wins="all",
    vendor="intel",
    joined_identity=True,
)
DIALECTS: tuple[Dialect, ...] = (DCGM, DCGM_LOWER, DCGM_OLD, SMI, JOBSTATS, SLURM_JOB, AMD, INTEL)
"""In order of preference: where two exporters show one GPU, the first one's values stand."""

_DCGM: tuple[tuple[str, Signal | Attribute, float], ...] = (
    ("DCGM_FI_DEV_GPU_UTIL", Signal.GPU_UTIL, 1),
    ("DCGM_FI_DEV_GPU_UTIL_RATIO", Signal.GPU_UTIL, 1),  # 0 to 100 in spite of its name
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", Signal.GR_ENGINE, 100),
    ("DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", Signal.GR_ENGINE, 100),
    ("DCGM_FI_PROF_SM_ACTIVE", Signal.SM_ACTIVE, 100),
    ("DCGM_FI_PROF_SM_UTIL_RATIO", Signal.SM_ACTIVE, 100),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", Signal.TENSOR, 100),
    ("DCGM_FI_PROF_TENSOR_UTIL_RATIO", Signal.TENSOR, 100),
    ("DCGM_FI_PROF_DRAM_ACTIVE", Signal.DRAM, 100),
    ("DCGM_FI_PROF_DRAM_UTIL_RATIO", Signal.DRAM, 100),
    ("DCGM_FI_DEV_ENC_UTIL", Signal.ENCODER, 1),
    ("DCGM_FI_DEV_DEC_UTIL", Signal.DECODER, 1),
    ("DCGM_FI_DEV_FB_USED", Signal.MEMORY_MIB, 1),
    ("DCGM_FI_DEV_POWER_USAGE", Signal.POWER_WATTS, 1),
    ("DCGM_FI_DEV_BOARD_POWER_WATTS", Signal.POWER_WATTS, 1),
    ("DCGM_FI_DEV_GPU_TEMP", Signal.TEMPERATURE_C, 1),
    ("DCGM_FI_DEV_GPU_TEMP_CELSIUS", Signal.TEMPERATURE_C, 1),
    ("DCGM_FI_DEV_FB_TOTAL", Attribute.MEMORY_TOTAL_MIB, 1),
    ("DCGM_FI_DEV_FB_FREE", Attribute.MEMORY_FREE_MIB, 1),
    ("DCGM_FI_DEV_FB_RESERVED", Attribute.MEMORY_RESERVED_MIB, 1),
    ("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", Attribute.POWER_LIMIT_WATTS, 1),
    ("DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS", Attribute.POWER_LIMIT_WATTS, 1),
)
_PARTITION_0 = 'gpu_partition_id=~"0?"'


def _amd(prefix: str) -> tuple[Metric, ...]:
    return (
        Metric(f"{prefix}gpu_gfx_activity", AMD, Signal.GPU_UTIL, matcher=_PARTITION_0),
        Metric(f"{prefix}gpu_umc_activity", AMD, Signal.DRAM, matcher=_PARTITION_0),
        Metric(f"{prefix}gpu_package_power", AMD, Signal.POWER_WATTS, matcher=_PARTITION_0),
        Metric(f"{prefix}gpu_average_package_power", AMD, Signal.POWER_WATTS, rank=1, matcher=_PARTITION_0),
        Metric(f"{prefix}gpu_power_usage", AMD, Signal.POWER_WATTS, rank=2, matcher=_PARTITION_0),
        Metric(f"{prefix}gpu_used_vram", AMD, Signal.MEMORY_MIB, is_summed=True),
        Metric(f"{prefix}gpu_junction_temperature", AMD, Signal.TEMPERATURE_C, matcher=_PARTITION_0),
        Metric(f"{prefix}gpu_edge_temperature", AMD, Signal.TEMPERATURE_C, rank=1, matcher=_PARTITION_0),
        Metric(f"{prefix}gpu_total_vram", AMD, Attribute.MEMORY_TOTAL_MIB, is_summed=True),
    )


METRICS: tuple[Metric, ...] = (
    *(Metric(name, DCGM, means, scale) for name, means, scale in _DCGM),
    *(Metric(name.lower(), DCGM_LOWER, means, scale) for name, means, scale in _DCGM),
    Metric("dcgm_gpu_utilization", DCGM_OLD, Signal.GPU_UTIL),
    Metric("dcgm_enc_utilization", DCGM_OLD, Signal.ENCODER),
    Metric("dcgm_dec_utilization", DCGM_OLD, Signal.DECODER),
    Metric("dcgm_fb_used", DCGM_OLD, Signal.MEMORY_MIB),
    Metric("dcgm_power_usage", DCGM_OLD, Signal.POWER_WATTS),
    Metric("dcgm_gpu_temp", DCGM_OLD, Signal.TEMPERATURE_C),
    Metric("dcgm_fb_free", DCGM_OLD, Attribute.MEMORY_FREE_MIB),
    Metric("nvidia_smi_utilization_gpu_ratio", SMI, Signal.GPU_UTIL, 100),
    Metric("nvidia_smi_utilization_encoder_ratio", SMI, Signal.ENCODER, 100),
    Metric("nvidia_smi_utilization_decoder_ratio", SMI, Signal.DECODER, 100),
    Metric("nvidia_smi_memory_used_bytes", SMI, Signal.MEMORY_MIB, MIB),
    Metric("nvidia_smi_power_draw_watts", SMI, Signal.POWER_WATTS),
    Metric("nvidia_smi_temperature_gpu", SMI, Signal.TEMPERATURE_C),
    Metric("nvidia_smi_memory_total_bytes", SMI, Attribute.MEMORY_TOTAL_MIB, MIB),
    Metric("nvidia_smi_enforced_power_limit_watts", SMI, Attribute.POWER_LIMIT_WATTS),
    Metric("nvidia_gpu_duty_cycle", JOBSTATS, Signal.GPU_UTIL),
    Metric("nvidia_gpu_memory_used_bytes", JOBSTATS, Signal.MEMORY_MIB, MIB),
    Metric("nvidia_gpu_power_usage_milliwatts", JOBSTATS, Signal.POWER_WATTS, 1 / 1000),
    Metric("nvidia_gpu_temperature_celsius", JOBSTATS, Signal.TEMPERATURE_C),
    Metric("nvidia_gpu_memory_total_bytes", JOBSTATS, Attribute.MEMORY_TOTAL_MIB, MIB),
    Metric("slurm_job_utilization_gpu", SLURM_JOB, Signal.GPU_UTIL),
    Metric("slurm_job_tensor_gpu", SLURM_JOB, Signal.TENSOR, 100),
    Metric("slurm_job_memory_usage_gpu", SLURM_JOB, Signal.MEMORY_MIB, MIB),
    Metric("slurm_job_power_gpu", SLURM_JOB, Signal.POWER_WATTS, 1 / 1000),
    Metric("slurm_job_memory_total_gpu", SLURM_JOB, Attribute.MEMORY_TOTAL_MIB, MIB),
    *_amd(""),
    *_amd("amd_"),
    Metric("hw_gpu_utilization_ratio", INTEL, Signal.GPU_UTIL, 100),
    Metric("hw_memory_usage_bytes", INTEL, Signal.MEMORY_MIB, MIB, matcher='hw_memory_location="device"'),
    Metric("hw_power_watts", INTEL, Signal.POWER_WATTS, matcher='hw_sensor_location="gpu"'),
    Metric("hw_temperature_celsius", INTEL, Signal.TEMPERATURE_C, matcher='hw_sensor_location="gpu"'),
)

TIMING_ORDER: tuple[Signal, ...] = (
    Signal.GPU_UTIL,
    Signal.GR_ENGINE,
    Signal.SM_ACTIVE,
    Signal.TENSOR,
    Signal.POWER_WATTS,
    Signal.MEMORY_MIB,
    Signal.TEMPERATURE_C,
)
"""Whose raw points count as the GPU's points: the first one that has any in the sample."""

GPU_LOOKING = r"(?i).*(gpu|dcgm|nvidia|rocm|xpu|cuda).*"
"""Metric names that a person would take for GPU metrics; `doctor` lists them when none is in the table."""


def known_metrics(names: set[str]) -> list[Metric]:
    """Give the rows of the table that a source has, in order of preference."""
    return [metric for metric in METRICS if metric.name in names]
