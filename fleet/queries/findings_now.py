"""What deserves an eye now, by kind; each function gives every finding of its kind that holds. Reads only."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from common.periods import iso
from fleet.domain.findings import Found
from fleet.domain.idle import STATES
from fleet.domain.idle_rule import NEVER
from fleet.domain.states import IDLE, FindingKind, Reason, State
from fleet.domain.units import NOT_RUNNING, disagrees
from fleet.models import Gpu, Target
from fleet.queries.evidence import unit_evidence, whole
from fleet.queries.fleet_at import FleetAt, Machine, moment
from fleet.queries.judging import Judged, Unit, machine_facts
from fleet.queries.standing import instance_path

PARTLY_AFTER_SECONDS = 86_400
LOST_AFTER_SECONDS = 900
LOST_AFTER_INTERVALS = 3
NEVER_IDLE = frozenset({Reason.HOST_CLAIMED_TWICE, Reason.INVENTORY_DISAGREES, Reason.NEVER_SEEN})


@dataclass(frozen=True)
class Scene:
    """The fleet with its verdicts, as the finders look at it."""

    fleet: FleetAt
    judged: Judged
    machines: Mapping[int, Unit]
    jobs: Mapping[int, Unit]


def instance_found(
    kind: FindingKind,
    machine: Machine,
    since: datetime,
    evidence: Mapping[str, Any],
    *,
    not_before: datetime | None = None,
) -> Found:
    """A finding about an instance."""
    return Found(
        kind, "instance", machine.id, machine.at.external_id, since, evidence, instance_id=machine.id,
        account=machine.at.account or "", team_id=machine.team_id, owner=machine.owner, not_before=not_before,
        link=instance_path(machine.at.account, machine.at.external_id),
    )  # fmt: skip


def job_found(
    kind: FindingKind,
    fleet: FleetAt,
    job_id: int,
    since: datetime,
    evidence: Mapping[str, Any],
    *,
    not_before: datetime | None = None,
) -> Found:
    """A finding about a job; its instance is that of its first GPU."""
    job = fleet.jobs[job_id]
    instance_id = fleet.gpus[job.gpus[0]].instance_id
    machine = fleet.machines.get(instance_id)
    account = (machine.at.account or "") if machine else ""
    return Found(
        kind, "job", job.id, job.external_id, since, evidence, instance_id=instance_id, account=account,
        team_id=job.team_id, owner=job.owner, not_before=not_before,
        link=instance_path(machine.at.account, machine.at.external_id) if machine else "/",
    )  # fmt: skip


def idle(scene: Scene, minutes_of: Mapping[tuple[str, int], float | None]) -> Iterator[Found]:
    """Idle instances, and idle jobs where the policy judges jobs.

    It holds while the verdict is idle; and goes on, whatever the verdict, until one of the GPUs had two busy samples in
    a row or started anew, or the machine does not run.
    """
    for pk, unit in scene.machines.items():
        machine = scene.fleet.machines[pk]
        if machine.at.state not in NOT_RUNNING and holds_idle(scene, unit, machine_facts(machine).gpu_count):
            since, not_before = idle_clock(scene, unit)
            evidence = _idle_evidence(scene, unit, machine, minutes_of.get(("instance", pk)))
            yield instance_found(FindingKind.IDLE, machine, since, evidence, not_before=not_before)
    for pk, unit in scene.jobs.items():
        first = scene.fleet.machines.get(scene.fleet.gpus[unit.rows[0]].instance_id)
        if first is not None and first.policy.idle.get("scope") == "job" and holds_idle(scene, unit):
            since, not_before = idle_clock(scene, unit)
            evidence = _idle_evidence(scene, unit, first, minutes_of.get(("job", pk)))
            yield job_found(FindingKind.IDLE, scene.fleet, pk, since, evidence, not_before=not_before)


def holds_idle(scene: Scene, unit: Unit, gpu_count: int | None = None) -> bool:
    """Whether a unit is idle, or was and nothing has ended it: by the folds of its GPUs, all of them there."""
    if unit.verdict.state in IDLE:
        return True
    devices = {scene.fleet.gpus[row].uuid for row in unit.rows}
    if unit.verdict.reason in NEVER_IDLE or len(devices) < (gpu_count or 1):
        return False
    return bool(scene.judged.fold["is_open"][list(unit.rows)].all())


def idle_clock(scene: Scene, unit: Unit) -> tuple[datetime, datetime | None]:
    """The unit's since, and the newest of what would end an episode of any of its GPUs."""
    fold = scene.judged.fold[list(unit.rows)]
    since = unit.verdict.since if unit.verdict.since is not None else float(fold["since"].max())
    ended = float(max(fold["closed_mark"].max(), fold["start"].max()))
    return moment(since), moment(ended) if ended > NEVER else None


def _idle_evidence(scene: Scene, unit: Unit, machine: Machine, minutes: float | None) -> dict[str, Any]:
    return unit_evidence(scene.judged, unit) | {
        "minutes": whole(minutes),
        "threshold_pct": machine.rule.threshold_pct,
        "policy": machine.policy.policy,
        "policy_version": machine.policy.version,
    }


def partly_used(scene: Scene) -> Iterator[Found]:
    """Instances and jobs of which some GPUs were empty for a day while others work."""
    for kind, units in (("instance", scene.machines), ("job", scene.jobs)):
        for pk, unit in units.items():
            if unit.verdict.state is not State.WORKING or len(unit.rows) < 2:
                continue
            unused = [row for row in unit.rows if _empty_for_long(scene, row)]
            if not unused:
                continue
            since = moment(max(scene.judged.empty_since(row) for row in unused))
            names = [scene.fleet.gpus[row].name for row in unused]
            indexes = [scene.fleet.gpus[row].position for row in unused]
            evidence = {"gpus": len(unit.rows), "unused": names, "indexes": indexes}
            if kind == "instance":
                yield instance_found(FindingKind.PARTLY_USED, scene.fleet.machines[pk], since, evidence)
            else:
                yield job_found(FindingKind.PARTLY_USED, scene.fleet, pk, since, evidence)


def _empty_for_long(scene: Scene, row: int) -> bool:
    if STATES[scene.judged.state[row]] is not State.EMPTY:
        return False
    return scene.judged.empty_since(row) <= scene.fleet.mark - PARTLY_AFTER_SECONDS


def gpu_lost(scene: Scene) -> Iterator[Found]:
    """Devices of running instances that went silent while others of their host report."""
    fold, now = scene.judged.fold, scene.fleet.mark
    for machine in scene.fleet.machines.values():
        if machine.at.state in NOT_RUNNING or len(machine.placed) < 2:
            continue
        rows = list(machine.placed)
        seen_at = np.array([_seen_at(scene, row) for row in rows])
        interval = fold["interval"][rows]
        reports = now - seen_at <= 2 * interval + 60
        if not reports.any():
            continue
        limit = np.maximum(LOST_AFTER_SECONDS, LOST_AFTER_INTERVALS * interval.max())
        for row, at in zip(rows, seen_at, strict=True):
            if now - at > limit and at > (machine.started or NEVER):
                gpu = scene.fleet.gpus[row]
                place = {"host": gpu.host, "index": gpu.position, "model": gpu.model}
                evidence = {"last_seen_at": iso(moment(at)), **place}
                yield Found(
                    FindingKind.GPU_LOST, "gpu", gpu.id, gpu.name, moment(at), evidence, instance_id=machine.id,
                    account=machine.at.account or "", team_id=machine.team_id, owner=machine.owner,
                    link=instance_path(machine.at.account, machine.at.external_id),
                )  # fmt: skip


def _seen_at(scene: Scene, row: int) -> float:
    """The newest raw point up to now."""
    at = float(scene.judged.fold["seen_at"][row])
    return at if at > NEVER else min(scene.fleet.gpus[row].last_seen, float(scene.fleet.mark))


def unassigned(scene: Scene) -> Iterator[Found]:
    """Running instances and open jobs that no rule gives to a team."""
    for machine in scene.fleet.machines.values():
        if machine.team_id is None and machine.at.state not in NOT_RUNNING and not _all_owned(scene, machine):
            since = machine.at.started_at or scene.fleet.at
            yield instance_found(FindingKind.UNASSIGNED, machine, since, {"host": machine.at.host})
    for job in scene.fleet.jobs.values():
        if job.team_id is None:
            evidence = {"gpus": len(job.gpus), "owner": job.owner}
            yield job_found(FindingKind.UNASSIGNED, scene.fleet, job.id, moment(job.started), evidence)


def _all_owned(scene: Scene, machine: Machine) -> bool:
    """Whether jobs of teams hold every GPU of the instance: then nothing of it is without an owner."""
    jobs = scene.fleet.jobs_of
    return bool(machine.members) and all(
        any(scene.fleet.jobs[job].team_id is not None for job in jobs.get(row, ())) for row in machine.members
    )


def unknown_host(scene: Scene) -> Iterator[Found]:
    """Hosts of telemetry that no account knows, that two claim, or that differ from their account's word.

    While no account is declared at all every host is one that no account knows, and nothing is wrong with that.
    """
    if not scene.fleet.has_accounts:
        return
    for machine in scene.fleet.machines.values():
        if machine.at.state in NOT_RUNNING:
            continue
        gpus = [scene.judged.verdict(scene.fleet, row) for row in machine.members]
        if machine.at.account is None:
            why = "no_account"
        elif machine.is_contested:
            why = "claimed_twice"
        elif gpus and disagrees(machine_facts(machine), gpus):
            why = "disagrees"
        else:
            continue
        first = min((scene.fleet.gpus[row].first_seen for row in machine.members), default=float(scene.fleet.mark))
        evidence = {
            "why": why, "host": machine.at.host, "gpus_seen": len({gpu.uuid for gpu in gpus}),
            "gpu_count": machine.at.attributes.get("gpu_count"), "models_seen": sorted({gpu.model for gpu in gpus}),
            "gpu_model": machine.at.attributes.get("gpu_model"),
        }  # fmt: skip
        yield instance_found(FindingKind.UNKNOWN_HOST, machine, moment(first), evidence)


def unpriced(scene: Scene, priced: Container[int]) -> Iterator[Found]:
    """Running instances whose price nobody knows; as a row it is kept by `billing`, which knows since when."""
    for machine in (scene.fleet.machines[pk] for pk in scene.machines):
        if machine.id not in priced and machine.at.state not in NOT_RUNNING:
            facts = machine.at.attributes
            evidence = {name: facts.get(name) for name in ("provider", "sku", "gpu_model", "gpu_count", "region")}
            yield instance_found(FindingKind.UNPRICED, machine, machine.at.started_at or scene.fleet.at, evidence)


def target_down(now: datetime) -> list[Found]:
    """Scrape targets that say `up` 0 for more than two intervals; a missing `up` is not a 0."""
    found = []
    for target in Target.objects.filter(is_up=False, changed_at__lte=now).select_related("source"):
        changed = target.changed_at
        if changed is not None and (now - changed).total_seconds() > 2 * (target.interval_seconds or 60):
            evidence = {"source": target.source.name, "interval_seconds": target.interval_seconds}
            found.append(Found(FindingKind.TARGET_DOWN, "target", target.pk, target.name, changed, evidence))
    return found


def targets_down(scene: Scene) -> Iterator[Found]:
    """The targets that are down, once for each instance whose devices they scrape."""
    down = {one.subject_id: one for one in target_down(scene.fleet.at)}
    if not down:
        return
    target_of = dict(Gpu.objects.filter(target_id__in=down).values_list("pk", "target_id"))
    for pk in scene.machines:
        gpus = {scene.fleet.gpus[row].id for row in scene.fleet.machines[pk].members}
        for target in sorted({target_of[gpu] for gpu in gpus & target_of.keys()}):
            yield replace(down[target], instance_id=pk)
