"""The decision record of one instance: what was seen, what was asked of it, and what happens next. Writes nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

import numpy as np

from common.errors import BadInput
from common.periods import floor_mark, iso
from fleet.domain.idle_rule import NEVER
from fleet.domain.next_steps import next_steps
from fleet.domain.ports import PriceLookup
from fleet.domain.quiet import read_samples
from fleet.models import Exemption, IdleRuleVersion
from fleet.queries.evidence import percent
from fleet.queries.findings_now import Scene
from fleet.queries.fleet_at import FleetAt, Machine, around, fleet_at, moment
from fleet.queries.policy_record import exemption_documents, policy_document, references
from fleet.queries.samples import load_block
from fleet.queries.verdicts import Say, documents, scene_of
from fleet.queries.waiting_now import last_marks

VERDICT_KEYS = (
    "state", "reason", "sentence", "since", "minutes", "confidence", "coverage_pct", "peak_pct", "mean_pct", "signal",
    "currency", "price_per_hour", "idle_cost", "instance_state",
)  # fmt: skip


def explain(
    reference: str, at: datetime, prices: PriceLookup, *, say: Say = lambda _: "", instance_id: int | None = None
) -> dict[str, Any]:
    """Give the record of an instance, named `id` or `account/id`, as of ``at``. Raises BadInput (unknown_instance).

    With its row ``instance_id`` only what it takes is read, however large the fleet.
    """
    mark = floor_mark(at)
    fleet = fleet_at(mark, only=None if instance_id is None else around(instance_id, mark))
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
    version = IdleRuleVersion.objects.filter(valid_from__lte=at).order_by("-valid_from").first()
    return policy_document(machine.policy, version.spec if version else {})


def _exemptions(machine: Machine, at: datetime) -> list[dict[str, Any]]:
    names = references(machine.at.account, machine.at.external_id)
    rows = Exemption.objects.filter(instance_ref__in=names).order_by("pk")
    return exemption_documents(rows, machine.policy, at)


def _next(scene: Scene, machine: Machine) -> list[dict[str, Any]]:
    """What happens next, and when at the earliest: codes, for people in `fleet.sentences`."""
    steps = next_steps(
        scene.machines[machine.id].verdict.state,
        started=machine.started,
        rule=machine.rule,
        gpus=[last_marks(scene, row) for row in machine.members],
        now=scene.fleet.mark,
    )
    return [{"what": what, "at": None if at is None else iso(moment(at))} for what, at in steps]
