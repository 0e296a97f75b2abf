"""The `judge` document: every instance with its GPUs, jobs and findings at a time, from samples alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from common.money import plain
from common.periods import floor_mark, iso
from fleet.domain.findings import Found
from fleet.domain.idle_cost import cost_of
from fleet.domain.ports import HourlyPrice, PriceLookup
from fleet.domain.states import IDLE, FindingKind, State
from fleet.domain.units import NOT_RUNNING
from fleet.domain.utilization import Use
from fleet.queries import findings_now
from fleet.queries.evidence import percent, unit_evidence, whole
from fleet.queries.findings_now import Scene
from fleet.queries.fleet_at import FleetAt, Machine, fleet_at, moment
from fleet.queries.hangs import suspected_hang
from fleet.queries.job_life import spans_of_jobs, uses_over
from fleet.queries.judging import Unit, judge_gpus, judge_jobs, judge_machines, minutes_since
from fleet.queries.low_use import candidates, low_utilization
from people.queries import teams

Say = Callable[[Mapping[str, Any]], str]


def judge_at(at: datetime, prices: PriceLookup, *, say: Say = lambda _: "") -> list[dict[str, Any]]:
    """Give every instance known at ``at`` as `judge` prints it; ``say`` renders the sentence from its facts."""
    fleet = fleet_at(floor_mark(at))
    return documents(scene_of(fleet, list(fleet.machines)), prices, say=say)


def documents(scene: Scene, prices: PriceLookup, *, say: Say = lambda _: "") -> list[dict[str, Any]]:
    """Give the documents of the instances of a scene."""
    desk = _desk(scene, prices)
    return [desk.document(scene.fleet.machines[pk], say) for pk in scene.machines]


def scene_of(fleet: FleetAt, instance_ids: Collection[int]) -> Scene:
    """Judge some instances and the jobs on them from samples alone."""
    wanted = set(instance_ids)
    rows = {row for pk in wanted for row in fleet.machines[pk].placed}
    jobs = {job for row in rows for job in fleet.jobs_of.get(row, ())}
    rows |= {row for job in jobs for row in fleet.jobs[job].gpus}
    judged = judge_gpus(fleet, rows if len(rows) < len(fleet.gpus) else None)
    machines = {pk: unit for pk, unit in judge_machines(fleet, judged).items() if pk in wanted}
    return Scene(fleet, judged, machines, {pk: unit for pk, unit in judge_jobs(fleet, judged).items() if pk in jobs})


def _desk(scene: Scene, prices: PriceLookup) -> _Desk:
    fleet = scene.fleet
    minutes = _minutes(scene)
    found: defaultdict[int, list[Found]] = defaultdict(list)
    subjects = [key for key in candidates(scene) if key[1] in (scene.jobs if key[0] == "job" else scene.machines)]
    for one in (
        *findings_now.idle(scene, minutes),
        *suspected_hang(scene),
        *findings_now.partly_used(scene),
        *findings_now.gpu_lost(scene),
        *findings_now.unassigned(scene),
        *findings_now.unknown_host(scene),
        *findings_now.targets_down(scene),
        *low_utilization(scene, subjects),
    ):
        if one.instance_id is not None and one.instance_id in scene.machines:
            found[one.instance_id].append(one)
    known = prices.prices(list(scene.machines), fleet.at)
    for one in findings_now.unpriced(scene, known):
        found[one.subject_id].append(one)
    names = {pk: team.name for pk, team in teams().items()}
    lives = spans_of_jobs(fleet, list(scene.jobs))
    uses = {pk: use for (_, pk), use in uses_over(fleet, {("job", pk): spans for pk, spans in lives.items()}).items()}
    return _Desk(scene, minutes, dict(found), known, names, uses)


def _minutes(scene: Scene) -> dict[tuple[str, int], float | None]:
    """Covered minutes of each unit whose idle finding is open."""
    asked: list[tuple[tuple[int, ...], float]] = []
    keys: list[tuple[str, int]] = []
    for kind, units in (("instance", scene.machines), ("job", scene.jobs)):
        for pk, unit in units.items():
            if unit.rows and findings_now.holds_idle(scene, unit):
                keys.append((kind, pk))
                asked.append((unit.rows, findings_now.idle_clock(scene, unit)[0].timestamp()))
    return dict(zip(keys, minutes_since(scene.fleet, scene.judged, asked), strict=True))


@dataclass(frozen=True)
class _Desk:
    """All that documents are written from."""

    scene: Scene
    minutes: Mapping[tuple[str, int], float | None]
    found: Mapping[int, list[Found]]
    prices: Mapping[int, HourlyPrice]
    teams: Mapping[int, str]
    uses: Mapping[int, Use]  # of jobs, over their lives

    def document(self, machine: Machine, say: Say) -> dict[str, Any]:
        """One instance."""
        unit = self.scene.machines[machine.id]
        verdict, price = unit.verdict, self.prices.get(machine.id)
        minutes = self.minutes.get(("instance", machine.id)) if verdict.state in IDLE else None
        facts = self._facts(machine, unit, minutes, price)
        return {
            "instance": machine.at.external_id,
            "account": machine.at.account,
            "host": machine.at.host or None,
            "provider": machine.at.attributes.get("provider") or None,
            "team": self._team(machine.team_id),
            "owner": machine.owner or None,
            "policy": machine.policy.policy,
            "state": str(verdict.state),
            "since": facts["since"],
            "minutes": facts["minutes"],
            "reason": str(verdict.reason),
            "sentence": say(facts),
            "confidence": unit.confidence,
            "coverage_pct": percent(unit.coverage_pct),
            "peak_pct": percent(unit.peak_pct),
            "mean_pct": percent(unit.mean_pct),
            "signal": unit.signal,
            "currency": price.currency if price else None,
            "price_per_hour": facts["price_per_hour"],
            "idle_cost": facts["idle_cost"],
            "instance_state": str(machine.at.state),
            "exempt": _exempt(machine),
            "vetoes": [],
            "stopped_but_billed": str(machine.at.state) == "stopped_billed",
            "gpus": [self._gpu(machine, row) for row in machine.members],
            "jobs": [self._job(pk) for pk in self._jobs_on(machine)],
            "findings": [self._finding(one) for one in self.found.get(machine.id, [])],
        }

    def _facts(self, machine: Machine, unit: Unit, minutes: float | None, price: HourlyPrice | None) -> dict[str, Any]:
        """What the sentence is made of."""
        verdict = unit.verdict
        cost = _cost(verdict.state, minutes, price)
        return {
            **unit_evidence(self.scene.judged, unit),
            "since": iso(moment(verdict.since)) if verdict.since is not None and verdict.state in IDLE else None,
            "minutes": whole(minutes),
            "price_per_hour": plain(price.per_hour) if price else None,
            "idle_cost": plain(cost),
            "currency": price.currency if price else None,
            "at": iso(self.scene.fleet.at),
            "started_at": iso(machine.at.started_at) if machine.at.started_at else None,
            "warm_up_minutes": machine.rule.warm_up_seconds // 60,
            "gpu_count": machine.at.attributes.get("gpu_count"),
        }

    def _gpu(self, machine: Machine, row: int) -> dict[str, Any]:
        fleet, judged = self.scene.fleet, self.scene.judged
        gpu, verdict = fleet.gpus[row], judged.verdict(fleet, row)
        runs = machine.at.state not in NOT_RUNNING
        is_idle = runs and verdict.state in IDLE and verdict.since is not None
        jobs = fleet.jobs_of.get(row, ())
        holder = fleet.jobs[jobs[0]] if len(jobs) == 1 else None
        return {
            "uuid": gpu.uuid,
            "mig_instance": gpu.mig_instance or None,
            "index": gpu.position,
            "model": gpu.model or None,
            "state": str(verdict.state if runs else State.UNKNOWN),
            "reason": str(verdict.reason),
            "since": iso(moment(verdict.since)) if is_idle and verdict.since is not None else None,
            "minutes": whole(float(judged.fold["minutes"][row])) if is_idle else None,
            "coverage_pct": percent(judged.coverage_pct[row]),
            "peak_pct": percent(judged.peak_pct[row]),
            "mean_pct": percent(judged.mean_pct[row]),
            "signal": judged.signal_name(row),
            "team": self._team(holder.team_id if holder else machine.team_id),
            "owner": (holder.owner if holder else machine.owner) or None,
            "jobs": [fleet.jobs[job].external_id for job in jobs],
        }

    def _jobs_on(self, machine: Machine) -> list[int]:
        jobs = self.scene.fleet.jobs_of
        return list(dict.fromkeys(job for row in machine.members for job in jobs.get(row, ())))

    def _job(self, pk: int) -> dict[str, Any]:
        fleet, unit = self.scene.fleet, self.scene.jobs[pk]
        job, verdict = fleet.jobs[pk], unit.verdict
        use = self.uses.get(pk)
        return {
            "id": job.external_id,
            "owner": job.owner or None,
            "team": self._team(job.team_id),
            "state": str(verdict.state),
            "since": iso(moment(verdict.since)) if verdict.since is not None else None,
            "minutes": whole(self.minutes.get(("job", pk))) if verdict.state in IDLE else None,
            "peak_pct": percent(use.peak_pct) if use else None,
            "mean_pct": percent(use.mean_pct) if use else None,
            "gpus": len(job.gpus),
        }

    def _finding(self, one: Found) -> dict[str, Any]:
        minutes = one.evidence.get("minutes")
        if minutes is None and one.kind is not FindingKind.IDLE:
            minutes = whole((self.scene.fleet.at - one.since).total_seconds() / 60)
        evidence = {**one.evidence, "subject": {"kind": one.subject_kind, "id": one.subject_name}}
        return {"kind": str(one.kind), "since": iso(one.since), "minutes": minutes, "evidence": evidence}

    def _team(self, team_id: int | None) -> str | None:
        return self.teams.get(team_id) if team_id is not None else None


def _cost(state: State, minutes: float | None, price: HourlyPrice | None) -> Decimal | None:
    """Idle cost so far: none while it does not idle, not known while the state or the price is not."""
    if price is None or state is State.UNKNOWN:
        return None
    return cost_of(price.per_hour, minutes) if minutes is not None else Decimal(0)


def _exempt(machine: Machine) -> dict[str, Any] | None:
    exempt = machine.policy.exempt
    if exempt is None:
        return None
    return {"by": exempt.by, "reason": exempt.reason, "until": iso(exempt.until) if exempt.until else None}
