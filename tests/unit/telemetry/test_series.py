from __future__ import annotations

import pytest

from fleet.domain import series
from fleet.domain.exporters import AMD, DCGM, INTEL, SLURM_JOB, SMI, Dialect
from fleet.domain.series import Identity

HEX = "6957bf84-47f4-5a88-9871-b5d063545405"


@pytest.mark.parametrize(
    ("dialect", "labels", "identity"),
    [
        (DCGM, {"UUID": f"GPU-{HEX}"}, Identity(f"GPU-{HEX}")),
        (DCGM, {"UUID": f"GPU-{HEX.upper()}", "GPU_I_ID": "5"}, Identity(f"GPU-{HEX}", "5")),
        (SMI, {"uuid": HEX}, Identity(f"GPU-{HEX}")),
        (SLURM_JOB, {"gpu": f"GPU-{HEX}"}, Identity(f"GPU-{HEX}")),
        (AMD, {"gpu_uuid": HEX, "gpu_id": "3"}, Identity(f"GPU-{HEX}")),
        (INTEL, {"node": "n1", "pci_bdf": "0000:29:00.0"}, Identity("GPU-n1/0000:29:00.0")),
        (INTEL, {"node": "n1"}, None),
        (DCGM, {"UUID": ""}, None),
        (DCGM, {"UUID": "<<<NULL>>>"}, None),
        (SMI, {"uuid": "00000000-0000-0000-0000-000000000000"}, None),
    ],
)
def test_identity(dialect: Dialect, labels: dict[str, str], identity: Identity | None) -> None:
    assert series.identify(labels, dialect) == identity


@pytest.mark.parametrize(
    ("labels", "up_pod", "host"),
    [
        ({"hostname": "Node-1", "instance": "10.0.0.5:9400"}, "", "node-1"),
        ({"node": "real", "hostname": "other", "instance": "i:1"}, "", "real"),
        (
            {"hostname": "dcgm-exporter-abcde", "pod": "dcgm-exporter-abcde", "instance": "10.0.0.5:9400"},
            "",
            "10.0.0.5",
        ),
        ({"hostname": "dcgm-exporter-abcde", "instance": "10.0.0.5:9400"}, "", "10.0.0.5"),  # its name tells
        ({"hostname": "odd-name-x1", "instance": "10.0.0.5:9400"}, "odd-name-x1", "10.0.0.5"),  # `up` tells
        ({"hostname": "localhost", "instance": "gpu7.example:9400"}, "", "gpu7.example"),
        ({"instance": "http://gpu7:9835"}, "", "gpu7"),
        ({"instance": "[fd00::7]:9400"}, "", "fd00::7"),
        ({"hostname": "node-2", "pod": "train-1", "namespace": "blue", "instance": "10.0.0.6:9400"}, "", "node-2"),
    ],
)
def test_host(labels: dict[str, str], up_pod: str, host: str) -> None:
    assert series.host(labels, up_pod) == host


OWN = {"namespace": "gpu-operator", "pod": "nvidia-dcgm-exporter-8hx2m", "container": "nvidia-dcgm-exporter"}


@pytest.mark.parametrize(
    ("labels", "up_pod", "owner"),
    [
        ({**OWN, "exported_namespace": "red", "exported_pod": "train-0"}, "", "red/train-0"),
        (OWN, "", None),  # unallocated: the labels are the exporter's
        ({"namespace": "mon", "pod": "odd-x1"}, "odd-x1", None),  # the target itself is that pod
        ({"namespace": "mon", "pod": "odd-x1", "hostname": "odd-x1"}, "", None),
        ({"namespace": "red", "pod": "train-0", "container": "main"}, "odd-x1", "red/train-0"),
        ({"pod_name": "train-0", "pod_namespace": "red", "container_name": "c"}, "", "red/train-0"),  # old labels
        ({"namespace": "", "pod": "", "container": ""}, "", None),  # empty means none
        ({"hpc_job": "7312101_17"}, "", "7312101_17"),
        ({"hpc_job": "0"}, "", None),
        ({"slurmjobid": "31234511", "user": "akim", "account": "def-lab1"}, "", "31234511"),
    ],
)
def test_owner(labels: dict[str, str], up_pod: str, owner: str | None) -> None:
    found = series.owner(labels, hidden=series.hides_owner(labels, up_pod))
    assert (found.external_id if found else None) == owner


def test_a_target_that_hides_owners_is_remembered() -> None:
    assert series.owner({"namespace": "x", "pod": "some-pod"}, hidden=True) is None


def test_who_runs_a_slurm_job() -> None:
    found = series.owner({"slurmjobid": "3", "user": "akim", "account": "def-lab1"}, hidden=False)
    assert found is not None
    assert (found.kind, found.user, dict(found.labels)) == ("slurm", "akim", {"owner": "akim", "account": "def-lab1"})


def test_texts_that_exporters_leak_say_nothing() -> None:
    assert series.model({"modelname": "<<<NOT_PERM>>>"}) == ""
    assert series.model({"card_model": "", "card_series": "AMD Instinct MI300X"}) == "AMD Instinct MI300X"
    assert series.index({"gpu": "GPU-7"}) is None
