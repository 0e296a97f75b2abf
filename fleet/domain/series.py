"""What the labels of one series say: which device, on which host, scraped from where, used by whom.

Case never matters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from fleet.domain.exporters import Dialect

Labels = Mapping[str, str]

_NO_TEXT = ("<<<", "SKIPPING DCGM VALUE", "ERROR - FAILED")
_EXPORTER = re.compile(
    r"(.*-)?(dcgm-exporter|gpu-metrics-exporter|device-metrics-exporter|nvidia-gpu-exporter|nvidia-smi-exporter"
    r"|nvidia-exporter|gpu-exporter|amd-gpu-exporter|xpumd|slurm-job-exporter)(-.*)?"
)
_NO_DEVICE = re.compile(r"0*(-0*)*")


class Identity(NamedTuple):
    """A device: ``uuid`` is `GPU-` and lower-case text, ``mig`` the MIG instance or empty."""

    uuid: str
    mig: str = ""


@dataclass(frozen=True)
class Owner:
    """Who holds the device by the labels of its series: a pod or a Slurm job."""

    kind: str  # pod, slurm
    external_id: str
    user: str = ""
    labels: tuple[tuple[str, str], ...] = field(default=(), compare=False)


def text(labels: Labels, *names: str) -> str:
    """Give the first label of ``names`` (lower case) that says something.

    Exporters leak markers such as `<<<NULL>>>`.
    """
    for name in names:
        found = labels.get(name)
        if found and (value := found.strip()) and not value.startswith(_NO_TEXT):
            return value
    return ""


def lower_names(labels: Labels) -> dict[str, str]:
    """Give the labels under lower-case names."""
    return {name.lower(): value for name, value in labels.items()}


def normal_uuid(value: str) -> str:
    """Give `GPU-` and lower-case text; empty for no text and for the all-zero UUID of a device without one."""
    plain = value.strip().lower().removeprefix("gpu-")
    return "" if not plain or value.startswith("<<<") or _NO_DEVICE.fullmatch(plain) else f"GPU-{plain}"


def identity_text(labels: Labels, dialect: Dialect) -> str:
    """Give the identifying label's value as the source writes it (labels under their exact names)."""
    if dialect.joined_identity:
        parts = [labels.get(name, "") for name in dialect.identity]
        return "/".join(parts) if all(parts) else ""
    for name in dialect.identity:
        if labels.get(name):
            return labels[name]
    return ""


def identify(labels: Labels, dialect: Dialect) -> Identity | None:
    """Say which device a series is about (labels under their exact names); None when it says none."""
    uuid = normal_uuid(identity_text(labels, dialect))
    return Identity(uuid, labels.get(dialect.mig, "") if dialect.mig else "") if uuid else None


def target_name(labels: Labels) -> str:
    """Give "job/instance" of the scrape target; empty when the series carries neither."""
    job, instance = labels.get("job", ""), labels.get("instance", "")
    return f"{job}/{instance}" if job or instance else ""


@lru_cache(maxsize=16_384)
def is_exporter(name: str) -> bool:
    """Say whether a pod or container name is that of a known exporter."""
    return bool(name) and bool(_EXPORTER.fullmatch(name.lower()))


def hides_owner(labels: Labels, up_pod: str = "") -> bool:
    """Say whether pod and namespace of this row (lower-case names) are the exporter's own, not the workload's."""
    pod = text(labels, "pod", "pod_name")
    if text(labels, "exported_pod", "exported_namespace", "exported_container"):
        return True
    if not pod:
        return False
    return pod in (up_pod, text(labels, "hostname")) or is_exporter(pod) or is_exporter(text(labels, "container"))


def host(labels: Labels, up_pod: str = "") -> str:
    """Give the lower-case host of a row (lower-case names).

    Node, else its host name, else the instance without port.
    """
    node = text(labels, "node", "nodename", "exported_node", "kubernetes_node")
    if node:
        return node.lower()
    name = text(labels, "hostname")
    exporter_pods = {up_pod, text(labels, "pod", "pod_name") if hides_owner(labels, up_pod) else ""}
    if name and name not in exporter_pods and not is_exporter(name) and name.lower() not in ("localhost", "127.0.0.1"):
        return name.lower()
    instance = text(labels, "instance")
    return re.sub(r":\d+$", "", re.sub(r"^\w+://", "", instance)).strip("[]").lower() or name.lower()


def owner(labels: Labels, *, hidden: bool) -> Owner | None:
    """Say who holds the device by this row (lower-case names).

    ``hidden``: its plain pod labels are the exporter's own.
    """
    job = text(labels, "hpc_job", "slurmjobid", "jobid", "job_id")
    if job and job != "0":
        user = text(labels, "user", "username", "job_user")
        kept = {"owner": user, "account": text(labels, "account"), "partition": text(labels, "job_partition")}
        return Owner("slurm", job, user, tuple(sorted((key, value) for key, value in kept.items() if value)))
    pod, namespace = text(labels, "exported_pod"), text(labels, "exported_namespace")
    container = text(labels, "exported_container")
    if not pod and not hidden:
        pod, namespace = text(labels, "pod", "pod_name"), text(labels, "namespace", "pod_namespace")
        container = text(labels, "container", "container_name")
    if not pod:
        return None
    kept = {"namespace": namespace, "pod": pod, "container": container}
    return Owner("pod", f"{namespace}/{pod}", "", tuple(sorted((key, value) for key, value in kept.items() if value)))


def model(labels: Labels) -> str:
    """Give the model as the exporter writes it (lower-case names); an empty card model falls back to its series."""
    series = text(labels, "card_series")
    return series or text(labels, "modelname", "model_name", "gpu_type", "hw_model", "card_model", "name")


def index(labels: Labels) -> int | None:
    """Give the device's number on its host (lower-case names), for reading only."""
    for name in ("gpu", "gpu_id", "ordinal", "index", "minor_number"):
        value = labels.get(name, "")
        if value.isdecimal() and len(value) < 5:
            return int(value)
    return None
