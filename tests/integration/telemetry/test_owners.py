"""Who held a GPU, from labels that exporters and scrapers write over each other."""

from __future__ import annotations

from collections.abc import Callable

from fleet.models import Gpu, Job, Target
from tests.integration.telemetry.conftest import T0, Fleet, at
from tests.support.gpu_history import History, every

Make = Callable[..., Fleet]


def test_the_exporters_pod_is_never_an_owner(fleet_of: Make) -> None:
    """Node 1 hides owners, its exporter restarts at 10:30 under another name; node 2 honours labels."""
    history = History()
    for pod, times in (
        ("dcgm-exporter-abcde", every(300, T0, T0 + 1800)),
        ("dcgm-exporter-xyz12", every(300, T0 + 2100, T0 + 3600)),
    ):
        own = {
            "Hostname": pod,
            "instance": "10.0.0.5:9400",
            "namespace": "gpu-operator",
            "pod": pod,
            "container": "exporter",
        }
        history.gpu(1, times, 70, **own, exported_namespace="red", exported_pod="train-0", exported_container="main")
        history.gpu(2, times, 0, **own)
    honoured = {"Hostname": "node-2", "instance": "10.0.0.6:9400", "job": "honor"}
    history.gpu(3, every(300, T0, T0 + 3600), 50, **honoured, namespace="blue", pod="train-1", container="main")
    fleet = fleet_of(history)
    fleet.backfill(0, 3600)
    assert fleet.uses() == [("red/train-0", 0, None), ("blue/train-1", 0, None)]
    assert [gpu.host for gpu in fleet.gpus()] == ["10.0.0.5", "10.0.0.5", "node-2"]
    assert dict(Target.objects.values_list("name", "hides_owner")) == {
        "dcgm/10.0.0.5:9400": True,
        "honor/10.0.0.6:9400": False,
    }
    assert Job.objects.get(external_id="red/train-0").labels == {
        "container": "main",
        "namespace": "red",
        "pod": "train-0",
    }


def test_up_tells_which_pod_is_the_target(fleet_of: Make) -> None:
    times = every(30, T0 + 1, T0 + 600)
    own = {"namespace": "mon", "pod": "odd-x1", "instance": "10.0.0.5:9400"}
    history = (
        History().gpu(1, times, 0, **own).gpu(2, times, 9, instance="10.0.0.5:9400", namespace="red", pod="train-0")
    )
    history.add("up", {"job": "dcgm", **own}, ((moment, 1 if moment < T0 + 400 else 0) for moment in times))
    fleet = fleet_of(history)
    fleet.backfill(0, 600)
    assert [use[0] for use in fleet.uses()] == ["red/train-0"]
    target = Target.objects.get(name="dcgm/10.0.0.5:9400")
    assert (target.is_up, target.changed_at) == (False, at(600))


def test_a_flapping_label_is_held_and_a_gone_one_is_not(fleet_of: Make) -> None:
    times = every(30, T0 + 10, T0 + 1200)
    missing = set(times[5:7]) | set(times[20:])
    fleet = fleet_of(
        History().gpu(1, [t for t in times if t not in missing], 9, pod="a", namespace="n").gpu(1, sorted(missing), 9)
    )
    fleet.backfill(0, 1200)
    assert fleet.uses() == [("n/a", 10, 580)]
    assert Job.objects.get().ended_at == at(580)


def test_several_jobs_share_a_gpu_and_one_job_holds_several(fleet_of: Make) -> None:
    times = every(30, T0 + 1, T0 + 300)
    history = History().gpu(1, times, 9, hpc_job="7312050").gpu(1, times, 9, hpc_job="7312051")
    history.gpu(2, times, 9, hpc_job="7312051").gpu(3, times, 9, hpc_job="").gpu(4, times, 9, hpc_job="7312101_17")
    fleet = fleet_of(history)
    fleet.backfill(0, 300)
    assert sorted(use[0] for use in fleet.uses()) == ["7312050", "7312051", "7312051", "7312101_17"]
    assert Job.objects.count() == 3
    assert fleet.means(0, 300) == [[9]] * 4


def test_owners_are_the_same_collected_or_backfilled(fleet_of: Make) -> None:
    history = History()
    for number in range(1, 3):
        history.gpu(number, every(30, T0 + 5, T0 + 1500), 9, pod="a", namespace="n")
        history.gpu(number, every(30, T0 + 1535, T0 + 2400), 9)
        history.gpu(number, every(30, T0 + 2435, T0 + 3600), 9, pod="b", namespace="n")
    fleet = fleet_of(history)
    for minute in range(5, 65, 5):
        fleet.collect(60 * minute)
    collected = (fleet.uses(), sorted(Job.objects.values_list("external_id", "started_at", "ended_at")))
    samples = fleet.block(0, 3600)
    Gpu.objects.all().delete()
    Job.objects.all().delete()
    fleet.backfill(0, 3600)
    backfilled = (fleet.uses(), sorted(Job.objects.values_list("external_id", "started_at", "ended_at")))
    assert (
        collected
        == backfilled
        == (
            [("n/a", 5, 1475), ("n/b", 2405, None)] * 2,
            [("n/a", at(5), at(1475)), ("n/b", at(2405), None)],
        )
    )
    again = fleet.block(0, 3600)
    assert again.minutes.tolist() == samples.minutes.tolist() or len(samples.gpu_ids) == 0
