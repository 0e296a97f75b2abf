"""Every exporter of the table through a real Prometheus: right devices, right units, owners and hosts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from fleet.domain import series
from fleet.domain.signals import Signal
from fleet.domain.telemetry import WHOLE, Reading, Span
from fleet.sources.prometheus.source import open_source
from tests.support.gpu_history import History, every
from tests.support.prometheus import PrometheusStarter

T = 1748948400
HEX = "94ecb2d8-b5c6-5c02-9dea-f733eab1e30e"
SCRAPED = {"job": "j", "instance": "gpu7.example:9400"}


def read(prometheus: PrometheusStarter, rows: Iterable[tuple[str, dict[str, str], float]]) -> Reading:
    history = History()
    for name, labels, value in rows:
        history.add(name, {**SCRAPED, **labels}, ((moment, value) for moment in every(30, T - 270, T)))
    source = open_source({"url": prometheus.backfilled(history.text())})
    return source.read(Span(T, T, T - 600), WHOLE, with_facts=True)


def values(reading: Reading, row: int = 0) -> dict[str, float]:
    found = {str(signal): float(table[row, 0]) for signal, table in reading.mean.items()}
    return {name: round(value, 3) for name, value in found.items() if not np.isnan(value)}


AZURE = {"uuid": f"gpu-{HEX}", "modelname": "nvidia a100 80gb pcie", "hostname": "aks-1", "namespace": "n", "pod": "p"}
OLD = {"uuid": f"GPU-{HEX}", "Hostname": "dcgm-exporter-6ldbb", "pod_name": "", "pod_namespace": ""}
SMI = {"uuid": HEX}
STATS = {"uuid": f"GPU-{HEX}", "name": "NVIDIA A100-SXM4-80GB", "ordinal": "3", "jobid": "622"}
SLURM = {"gpu": f"GPU-{HEX}", "gpu_type": "NVIDIA A100-SXM4-40GB", "slurmjobid": "311", "user": "akim"}
AMD = {
    "gpu_uuid": HEX,
    "card_series": "AMD Instinct MI300X",
    "hostname": "amd-2",
    "pod": "",
    "job_id": "88",
    "job_user": "mlee",
}
INTEL = {"node": "max-04", "pci_bdf": "0000:29:00.0", "hw_model": "Intel Data Center GPU Max 1550"}

Case = tuple[list[tuple[str, dict[str, str], float]], dict[str, float], tuple[str, str, str | None]]
CASES: dict[str, Case] = {
    "azure": (
        [("dcgm_fi_dev_gpu_util", AZURE, 61), ("dcgm_fi_prof_sm_active", AZURE, 0.41),
         ("dcgm_fi_dev_fb_used", AZURE, 182)],
        {"gpu_util": 61, "sm_active": 41, "memory_mib": 182},
        ("nvidia a100 80gb pcie", "aks-1", "n/p"),
    ),
    "old": (
        [("dcgm_gpu_utilization", OLD, 7), ("dcgm_power_usage", OLD, 30.982)],
        {"gpu_util": 7, "power_watts": 30.982},
        ("", "gpu7.example", None),
    ),
    "smi": (
        [("nvidia_smi_utilization_gpu_ratio", SMI, 1), ("nvidia_smi_memory_used_bytes", SMI, 20780679168),
         ("nvidia_smi_gpu_info", {**SMI, "name": "NVIDIA H100 80GB HBM3", "index": "4"}, 1)],
        {"gpu_util": 100, "memory_mib": 19818},
        ("NVIDIA H100 80GB HBM3", "gpu7.example", None),
    ),
    "jobstats": (
        [("nvidia_gpu_duty_cycle", STATS, 88), ("nvidia_gpu_power_usage_milliwatts", STATS, 311204)],
        {"gpu_util": 88, "power_watts": 311.204},
        ("NVIDIA A100-SXM4-80GB", "gpu7.example", "622"),
    ),
    "slurm": (
        [("slurm_job_utilization_gpu", SLURM, 77), ("slurm_job_power_gpu", SLURM, 287410)],
        {"gpu_util": 77, "power_watts": 287.41},
        ("NVIDIA A100-SXM4-40GB", "gpu7.example", "311"),
    ),
    "amd": (
        [("gpu_gfx_activity", AMD, 13), ("gpu_umc_activity", AMD, 2), ("gpu_power_usage", AMD, 141),
         ("gpu_used_vram", {**AMD, "gpu_partition_id": "0"}, 19022),
         ("gpu_used_vram", {**AMD, "gpu_partition_id": "1"}, 978),
         ("gpu_edge_temperature", AMD, 0), ("gpu_gfx_activity", {**AMD, "gpu_partition_id": "1"}, 99)],
        {"gpu_util": 13, "dram": 2, "power_watts": 141, "memory_mib": 20000},
        ("AMD Instinct MI300X", "amd-2", "88"),
    ),
    "intel": (
        [("hw_gpu_utilization_ratio", {**INTEL, "hw_gpu_task": "compute"}, 0.81),
         ("hw_gpu_utilization_ratio", {**INTEL, "hw_gpu_task": "copy"}, 0.12),
         ("hw_power_watts", {**INTEL, "hw_sensor_location": "gpu"}, 412.5),
         ("hw_power_watts", {**INTEL, "hw_sensor_location": "memory"}, 99)],
        {"gpu_util": 81, "power_watts": 412.5},
        ("Intel Data Center GPU Max 1550", "max-04", None),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CASES))
def test_an_exporter(prometheus: PrometheusStarter, name: str) -> None:
    rows, expected, (model, host, owner) = CASES[name]
    reading = read(prometheus, rows)
    assert len(reading.identities) == 1
    assert values(reading) == {key: float(value) for key, value in expected.items()}
    first = reading.series[0]
    labels = {**first.labels, **reading.info.get(0, {})}
    found = series.owner(first.labels, hidden=series.hides_owner(first.labels))
    assert (series.model(labels), series.host(first.labels), found.external_id if found else None) == (
        model,
        host,
        owner,
    )
    assert len(first.at) == 10


def test_device_facts(prometheus: PrometheusStarter) -> None:
    rows = [("nvidia_smi_utilization_gpu_ratio", SMI, 0.5), ("nvidia_smi_memory_total_bytes", SMI, 8.5520809984e10)]
    reading = read(prometheus, [*rows, ("nvidia_smi_enforced_power_limit_watts", SMI, 700)])
    assert (round(reading.memory_total_mib[0]), reading.power_limit_watts[0]) == (81559, 700)


def test_rows_of_nvlinks_make_no_gpu(prometheus: PrometheusStarter) -> None:
    link = {"nvlink": "1", "gpu": "0", "gpu_uuid": f"GPU-{HEX}"}
    reading = read(
        prometheus, [("DCGM_FI_DEV_NVLINK_BANDWIDTH_L0", link, 8121), ("DCGM_FI_DEV_CPU_UTIL_TOTAL", {"cpu": "0"}, 1)]
    )
    assert reading.identities == []


def test_a_gpu_without_utilisation_is_timed_by_what_it_has(prometheus: PrometheusStarter) -> None:
    reading = read(prometheus, [("DCGM_FI_DEV_POWER_USAGE", {"UUID": f"GPU-{HEX}", "Hostname": "n"}, 70)])
    assert values(reading) == {"power_watts": 70}
    assert [len(one.at) for one in reading.series] == [10]
    assert Signal.GPU_UTIL not in reading.mean


@pytest.mark.slow
def test_a_live_scrape(prometheus: PrometheusStarter) -> None:
    """A running Prometheus scrapes a small exporter: `up` and fresh points are there."""
    page = f'# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{{gpu="0",UUID="GPU-{HEX}",Hostname="n1"}} 42\n'
    url, target = prometheus.scraping(lambda: page)
    source = open_source({"url": url})
    last = float(source.client.query("max(timestamp(up))", wait_for_up(source)).data["result"][0]["value"][1])
    mark = int(last // 300 + 1) * 300
    reading = source.read(Span(mark, mark, mark - 600.0), WHOLE, with_facts=False)
    assert values(reading)["gpu_util"] == 42
    (state,) = source.read_up({"dcgm"}, Span(mark, mark, mark - 600.0))
    assert (state.target, state.is_up) == (f"dcgm/{target}", True)


def wait_for_up(source: object) -> float:
    """Wait until a sample was scraped; give a time just after it."""
    import time

    from tests.support.processes import wait_until

    query = source.client.query  # type: ignore[attr-defined]
    wait_until(lambda: bool(query("DCGM_FI_DEV_GPU_UTIL", time.time()).data["result"]), seconds=20, what="a scrape")
    return time.time()
