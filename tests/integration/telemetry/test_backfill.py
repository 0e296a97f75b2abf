"""From a real Prometheus to samples: exact means, garbage dropped, every device once, whatever its labels do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fleet.domain.signals import Signal
from fleet.models import GpuPlacement, Target
from tests.integration.telemetry.conftest import T0, Fleet, at
from tests.support.gpu_history import History, every, uuid

Make = Callable[..., Fleet]
BAD = ("4294967295", "9223372036854775794", "140737488355328", "808334905", "NaN", "+Inf")


def test_the_mean_is_exact_when_pods_come_and_go(fleet_of: Make) -> None:
    first, second, free = every(30, T0 + 10, T0 + 99), every(30, T0 + 160, T0 + 279), every(30, T0 + 100, T0 + 159)
    history = History().gpu(1, first, 90, pod="a-0", namespace="red").gpu(1, second, 4, pod="b-0", namespace="red")
    history.gpu(1, free, 0).gpu(1, [T0 + 280], 1)
    fleet = fleet_of(history)
    fleet.backfill(0, 300)
    assert fleet.means(0, 300) == [[round((3 * 90 + 2 * 0 + 4 * 4 + 1) / 10, 2)]]  # no mean of means, no greatest mean
    assert len(fleet.gpus()) == 1


def test_garbage_never_reaches_a_mean(fleet_of: Make) -> None:
    history = History()
    for number, bad in enumerate(BAD, start=1):
        history.gpu(number, every(30, T0 + 5, T0 + 260), 10)
        history.gpu(number, [T0 + 275], bad).gpu(number, [T0 + 290], 40)
        history.gpu(number, every(30, T0 + 5, T0 + 275), 0.5, name="DCGM_FI_PROF_GR_ENGINE_ACTIVE")
    fleet = fleet_of(history)
    result = fleet.backfill(0, 300)
    assert fleet.means(0, 300) == [[round((9 * 10 + 40) / 10, 2)]] * len(BAD)
    assert fleet.block(0, 300).points.tolist() == [[10]] * len(BAD)
    assert result.bad_samples == {"nan": 1, "out_of_range": 1, "sentinel": 4}
    assert fleet.backfill(0, 300).bad_samples == {}  # counted once


def test_only_garbage_is_no_sample(fleet_of: Make) -> None:
    fleet = fleet_of(History().gpu(1, every(30, T0 + 5, T0 + 600), "140737488355328"))
    fleet.backfill(0, 600)
    assert [gpu.uuid for gpu in fleet.gpus()] == [uuid(1)]
    assert fleet.block(0, 600).points.tolist() == [[0, 0]]


def test_a_second_run_writes_nothing(fleet_of: Make) -> None:
    history = History()
    for number in range(1, 4):
        history.gpu(number, every(30, T0 + 7 * number, T0 + 7200), 10 * number, pod=f"p-{number}", namespace="red")
    fleet = fleet_of(history)
    first = fleet.backfill(0, 7200)
    assert (first.gpus, first.samples, first.intervals, first.coverage_pct) == (3, 72, 24, 99.58)
    before = (fleet.uses(), list(GpuPlacement.objects.values_list()), fleet.block(0, 7200).minutes.tolist())
    assert fleet.backfill(0, 7200).samples == 0
    assert fleet.collect(7200).samples == 0
    assert (fleet.uses(), list(GpuPlacement.objects.values_list()), fleet.block(0, 7200).minutes.tolist()) == before


@pytest.mark.parametrize(("scrape", "points"), [(600, 6), (1800, 2), (60, 60), (15, 240)])
def test_slow_scrapes_cover_the_hour(fleet_of: Make, scrape: int, points: int) -> None:
    fleet = fleet_of(History().gpu(1, every(scrape, T0 - 7200, T0 + 3600), 3))
    fleet.backfill(0, 3600)
    block = fleet.block(0, 3600)
    assert (block.points.sum(), round(float(block.minutes.sum()), 3)) == (points, 60)
    assert Target.objects.get().interval_seconds == scrape


def test_a_declared_interval_wins(fleet_of: Make) -> None:
    fleet = fleet_of(History().gpu(1, every(60, T0 - 600, T0 + 600), 3), scrape_interval="30s")
    fleet.backfill(0, 600)
    assert fleet.block(0, 600).minutes.tolist() == [[2.5, 2.5]]


def test_slices_of_a_card_are_kept_apart(fleet_of: Make) -> None:
    history = History()
    for mig, engine in (("1", 0.9), ("2", 0)):
        labels = {"GPU_I_ID": mig, "GPU_I_PROFILE": "3g.40gb"}
        history.gpu(1, every(30, T0 + 1, T0 + 300), 0, **labels)  # flat zero under MIG: no measurement
        history.gpu(1, every(30, T0 + 1, T0 + 300), engine, name="DCGM_FI_PROF_GR_ENGINE_ACTIVE", **labels)
    history.gpu(1, every(30, T0 + 1, T0 + 300), 231.404, name="DCGM_FI_DEV_POWER_USAGE")
    fleet = fleet_of(history)
    fleet.backfill(0, 300)
    assert [(gpu.uuid, gpu.mig_instance, gpu.memory_total_mib) for gpu in fleet.gpus()] == [
        (uuid(1), "1", 40960),
        (uuid(1), "2", 40960),
    ]
    assert fleet.means(0, 300, Signal.GR_ENGINE) == [[90], [0]]
    assert fleet.means(0, 300, Signal.GPU_UTIL) == [[None], [None]]
    assert fleet.block(0, 300).points.tolist() == [[10], [10]]


def test_sharers_are_one_gpu(fleet_of: Make) -> None:
    history = History().gpu(1, every(30, T0 + 1, T0 + 300), 64)
    for vgpu, util in (("0", 41), ("1", 22), ("2", 0)):  # of each process: the row without vgpu is the device
        history.gpu(1, every(30, T0 + 1, T0 + 300), util, vgpu=vgpu, pod=f"p-{vgpu}", namespace="red")
    for vgpu in ("0", "1"):  # copies of the device only
        history.gpu(2, every(30, T0 + 1, T0 + 300), 50, vgpu=vgpu, pod=f"q-{vgpu}", namespace="red")
    fleet = fleet_of(history)
    fleet.backfill(0, 300)
    assert fleet.means(0, 300) == [[64], [50]]
    assert [use[0] for use in fleet.uses()] == ["red/p-0", "red/p-1", "red/p-2", "red/q-0", "red/q-1"]


def test_a_renamed_metric_and_host_are_one_gpu(fleet_of: Make) -> None:
    history = History().gpu(1, every(30, T0 + 5, T0 + 140), 20, Hostname="dcgm-exporter-abc12", modelName="H100-SXM")
    new = {"Hostname": "", "hostname": "k8s-gpu-07", "modelName": "NVIDIA H100 80GB HBM3"}
    history.gpu(1, every(30, T0 + 155, T0 + 300), 60, name="DCGM_FI_DEV_GPU_UTIL_RATIO", **new)
    fleet = fleet_of(history)
    fleet.backfill(0, 300)
    assert fleet.means(0, 300) == [[40]]
    (gpu,) = fleet.gpus()
    assert (gpu.host, gpu.model, gpu.power_limit_watts) == ("k8s-gpu-07", "H100-SXM5-80GB", 700)
    placements = GpuPlacement.objects.order_by("start").values_list("host", "start", "end")
    assert list(placements) == [("node-1", at(5), at(155)), ("k8s-gpu-07", at(155), None)]


def test_replicas_and_doubled_exporters_count_once(fleet_of: Make) -> None:
    times = every(30, T0 + 1, T0 + 300)
    history = History().gpu(1, times, 20, prometheus_replica="a").gpu(1, times, 20, prometheus_replica="b")
    smi = {"uuid": uuid(1).removeprefix("GPU-"), "instance": "node-1:9835", "job": "smi"}
    history.add("nvidia_smi_utilization_gpu_ratio", smi, ((moment, 0.9) for moment in times))
    fleet = fleet_of(history)
    fleet.backfill(0, 300)
    assert fleet.means(0, 300) == [[20]]  # the preferred exporter's
    assert fleet.block(0, 300).points.tolist() == [[10]]


def test_a_gap_and_an_early_end_are_no_zeros(fleet_of: Make) -> None:
    history = History().gpu(1, [t for t in every(30, T0 + 11, T0 + 1200) if not T0 + 300 < t <= T0 + 700], 0)
    fleet = fleet_of(history.gpu(2, every(30, T0 + 11, T0 + 311), 0))
    fleet.backfill(0, 1200)
    assert fleet.means(0, 1200) == [[0, None, 0, 0], [0, 0, None, None]]
    assert fleet.block(0, 1200).minutes.round(2).tolist() == [[4.5, 0, 3.5, 5], [4.5, 0.5, 0, 0]]


def test_devices_without_identity_are_counted_not_made(fleet_of: Make) -> None:
    history = History().gpu(1, every(30, T0 + 1, T0 + 300), 5, UUID="")
    history.gpu(2, every(30, T0 + 1, T0 + 300), 5, UUID="GPU-00000000-0000-0000-0000-000000000000")
    fleet = fleet_of(history.gpu(3, every(30, T0 + 1, T0 + 300), 5))
    result = fleet.backfill(0, 300)
    assert [gpu.uuid for gpu in fleet.gpus()] == [uuid(3)]
    assert result.bad_samples == {"no_identity": 20}


def test_memory_is_what_is_used_free_and_reserved(fleet_of: Make) -> None:
    history = History().gpu(1, every(30, T0 + 1, T0 + 300), 0)
    for name, value in (("FB_USED", 1000), ("FB_FREE", 80000), ("FB_RESERVED", 559)):
        history.gpu(1, every(30, T0 + 1, T0 + 300), value, name=f"DCGM_FI_DEV_{name}")
    history.gpu(1, every(30, T0 + 1, T0 + 300), 650, name="DCGM_FI_DEV_ENFORCED_POWER_LIMIT")
    fleet = fleet_of(history)
    fleet.backfill(0, 300)
    (gpu,) = fleet.gpus()
    assert (gpu.memory_total_mib, gpu.power_limit_watts) == (81559, 650)
    assert fleet.means(0, 300, Signal.MEMORY_MIB) == [[1000]]


def test_the_selector_is_in_every_query(fleet_of: Make) -> None:
    history = History()
    for number, cluster in ((1, "a"), (2, "b")):
        for name in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_DEV_POWER_USAGE"):
            history.gpu(number, every(30, T0 + 1, T0 + 300), 0.5, name=name, cluster=cluster)
    fleet = fleet_of(history, selector='cluster="a"')
    assert fleet.backfill(0, 300).gpus == 1
    assert [gpu.uuid for gpu in fleet.gpus()] == [uuid(1)]


def test_garbage_in_the_first_signal_reads_the_same_twice(fleet_of: Make) -> None:
    """The point before the range is that of the second signal: the first sample is whole at the first reading."""
    history = History().gpu(1, every(30, T0, T0 + 900), "NaN")
    history.gpu(1, every(30, T0, T0 + 900), 100, name="DCGM_FI_DEV_POWER_USAGE")
    fleet = fleet_of(history)
    assert fleet.backfill(0, 900).samples == 3
    assert fleet.block(0, 900).minutes.tolist() == [[5.0] * 3]
    assert fleet.backfill(0, 900).samples == 0


def test_slices_beside_whole_gpus_are_collected_too(fleet_of: Make) -> None:
    history = History().gpu(1, every(30, T0 + 5, T0 + 900), 50)
    labels = {"GPU_I_ID": "1", "GPU_I_PROFILE": "1g.10gb"}
    history.gpu(2, every(30, T0 + 5, T0 + 900), 0.25, name="DCGM_FI_PROF_GR_ENGINE_ACTIVE", **labels)
    fleet = fleet_of(history)
    for seconds in (300, 600, 900):
        fleet.collect(seconds)
    assert fleet.block(0, 900).points.tolist() == [[10] * 3] * 2
    assert fleet.means(0, 900, Signal.GR_ENGINE) == [[None] * 3, [25] * 3]


def test_a_point_on_a_mark_belongs_to_the_sample_that_ends_there(fleet_of: Make) -> None:
    history = History().gpu(1, [T0], 100).gpu(1, [T0 + 300], 0).gpu(1, [T0 + 600], 50)
    fleet = fleet_of(history)
    fleet.backfill(0, 600)
    assert fleet.means(0, 600) == [[0, 50]]
    assert fleet.block(0, 600).peak[Signal.GPU_UTIL].tolist() == [[0, 50]]
