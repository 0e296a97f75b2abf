"""The decision record of one instance: what was seen, what was asked of it, and what happens next. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

import numpy as np

from common.errors import BadInput
from common.periods import floor_mark, iso
from fleet.domain.idle_rule import NEVER, IdleRule
from fleet.domain.ports import PriceLookup
from fleet.domain.quiet import read_samples
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.states import IDLE, State
from fleet.models import Exemption, IdleRuleVersion
from fleet.queries.evidence import percent
from fleet.queries.findings_now import Scene
from fleet.queries.fleet_at import FleetAt, Machine, fleet_at, moment
from fleet.queries.samples import load_block
from fleet.queries.verdicts import Say, documents, scene_of

RULE_KEYS = ("threshold_pct", "window", "empty_window", "min_coverage_pct", "warm_up")
VERDICT_KEYS = (
    "state", "reason", "sentence", "since", "minutes", "confidence", "coverage_pct", "peak_pct", "mean_pct", "signal",
    "currency", "price_per_hour", "idle_cost", "instance_state",
)  # fmt: skip


def explain(reference: str, at: datetime, prices: PriceLookup, *, say: Say = lambda _: "") -> dict[str, Any]:
    """Give the record of an instance, named `id` or `account/id`, as of ``at``. Raises BadInput (unknown_instance)."""
    fleet = fleet_at(floor_mark(at))
    machine = find_machine(fleet, reference)
    scene = scene_of(fleet, [machine.id])
    (document,) = documents(scene, prices, say=say)
    return {
        "instance": document["instance"],
        "account": document["account"],
        "host": document["host"],
        "team": document["team"],
        "owner": document["owner"],
        "at": iso(fleet.at),
        "verdict": {key: document[key] for key in VERDICT_KEYS},
        "evidence": _evidence(scene, machine),
        "policy": _policy(machine, fleet.at),
        "exemptions": _exemptions(machine, fleet.at),
        "vetoes": document["vetoes"],
        "findings": document["findings"],
        "jobs": document["jobs"],
        "release": None,
        "next": _next(scene, machine),
    }


def find_machine(fleet: FleetAt, reference: str) -> Machine:
    """Find an instance by `id` or `account/id`; of several launches of one id the newest is meant."""
    names: dict[str, list[Machine]] = {}
    for machine in fleet.machines.values():
        names.setdefault(machine.at.external_id, []).append(machine)
        names.setdefault(f"{machine.at.account or '-'}/{machine.at.external_id}", []).append(machine)
    found = names.get(reference, [])
    if not found:
        near = get_close_matches(reference, list(names), n=3, cutoff=0.5)
        hint = f"Did you mean {', '.join(near)}?" if near else "`manage.py judge` lists the instances that are known."
        raise BadInput("unknown_instance", f"No instance {reference!r} is known at {iso(fleet.at)}.", hint=hint)
    accounts = {machine.at.account for machine in found}
    if len(accounts) > 1:
        choices = ", ".join(sorted(f"{account or '-'}/{reference}" for account in accounts))
        raise BadInput("ambiguous_instance", f"{reference!r} is in several accounts.", hint=f"Write one of {choices}.")
    return max(found, key=lambda machine: (machine.started or 0.0, machine.id))


def _evidence(scene: Scene, machine: Machine) -> dict[str, Any]:
    """The window of the rule, and every sample of it by GPU."""
    fleet, rule = scene.fleet, machine.rule
    begin = fleet.at - timedelta(seconds=rule.reach_seconds)
    rows = list(machine.members)
    block = load_block(fleet.ids(rows), begin, fleet.at)
    reading = read_samples(block, fleet.facts(rows, int(begin.timestamp())), rule)
    gpus = []
    for place, row in enumerate(rows):
        points = []
        for column in np.flatnonzero(reading.seen[place]):
            says = "busy" if reading.busy[place, column] else "quiet" if reading.quiet[place, column] else "nothing"
            peaks = {
                str(signal): percent(values[place, column])
                for signal, values in block.peak.items()
                if not np.isnan(values[place, column])
            }
            covered = percent(float(block.minutes[place, column]))
            points.append({
                "at": iso(moment(float(block.marks[column]))), "says": says, "points": int(block.points[place, column]),
                "minutes": covered, "peaks": peaks,
            })  # fmt: skip
        gpu = fleet.gpus[row]
        gpus.append(
            {"uuid": gpu.uuid, "mig_instance": gpu.mig_instance or None, "index": gpu.position, "points": points}
        )
    start = max(begin.timestamp(), machine.started or NEVER)
    return {"window": {"start": iso(moment(start)), "end": iso(fleet.at)}, "gpus": gpus}


def _policy(machine: Machine, at: datetime) -> dict[str, Any]:
    """Every number of the rule, with where it comes from."""
    declared: Mapping[str, Any] = machine.policy.spec.get("idle") or {}
    version = IdleRuleVersion.objects.filter(valid_from__lte=at).order_by("-valid_from").first()
    organization: Mapping[str, Any] = version.spec if version else {}
    values = {}
    for key in (*RULE_KEYS, "scope"):
        if key in declared:
            source = f"policy {machine.policy.policy}"
        else:
            source = "organization" if key in organization else "default"
        values[key] = {"value": machine.policy.idle.get(key, "instance" if key == "scope" else None), "from": source}
    return {
        "name": machine.policy.policy,
        "version": machine.policy.version,
        "mode": machine.policy.spec.get("mode") if machine.policy.policy else None,
        "values": values,
    }


def _exemptions(machine: Machine, at: datetime) -> list[dict[str, Any]]:
    """Every exemption that names the instance, with whether it holds."""
    names = [machine.at.external_id, f"{machine.at.account}/{machine.at.external_id}"]
    rows = Exemption.objects.filter(instance_ref__in=names).order_by("pk")
    found = [
        {
            "by": row.approver or row.owner or "exemption",
            "reason": row.reason,
            "until": iso(row.until) if row.until else None,
            "holds": row.until is None or row.until > at,
        }
        for row in rows
    ]
    exempt = machine.policy.exempt
    if exempt is not None and not any(one["holds"] for one in found):
        found.append({"by": exempt.by, "reason": exempt.reason, "until": None, "holds": True})
    return found


def _next(scene: Scene, machine: Machine) -> list[dict[str, Any]]:
    """What happens next, and when at the earliest: codes, for people in `fleet.sentences`."""
    unit = scene.machines[machine.id]
    state, now = unit.verdict.state, scene.fleet.mark
    if state is State.STOPPED:
        return [{"what": "judged_again_when_it_starts", "at": None}]
    if state in IDLE:
        return [{"what": "idle_until_two_busy_samples_in_a_row", "at": None}]
    found: list[dict[str, Any]] = []
    if state is State.WARM_UP and machine.started is not None:
        found.append({"what": "warm_up_ends", "at": iso(moment(machine.started + machine.rule.warm_up_seconds))})
    if state is State.UNKNOWN:
        found.append({"what": "known_again_when_its_window_is_covered", "at": None})
    earliest = [_earliest_idle(scene, row, machine.rule) for row in machine.members]
    if earliest:
        at = max([*earliest, float(now + STEP_SECONDS)])
        found.append({"what": "idle_at_the_earliest_if_quiet_from_now_on", "at": iso(moment(at))})
    return found


def _earliest_idle(scene: Scene, row: int, rule: IdleRule) -> float:
    """When a GPU would be idle if it were quiet from now on, its memory as it is: a mark."""
    fold, now = scene.judged.fold[row], float(scene.fleet.mark)
    start = float(fold["start"]) if fold["start"] > NEVER else now
    last = max(float(fold["busy_mark"]), float(fold["silent_mark"]))
    full = max(float(fold["held_mark"]), float(fold["blind_mark"]))

    def by(window: int, *ends: float) -> float:
        return max(start + max(rule.warm_up_seconds, window), *(end + window for end in ends))

    earliest = by(rule.window_seconds, last)
    if full < fold["seen_mark"]:  # its memory is empty now
        earliest = min(earliest, by(rule.empty_window_seconds, last, full))
    return float(-(-earliest // STEP_SECONDS) * STEP_SECONDS)
