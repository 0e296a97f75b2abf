"""Whose an instance or a job is at a time: dated rule sets over dated attributes, then what persons claimed."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.periods import BEGINNING, Period
from fleet.domain.ownership import NAMESPACE_RULE, Facts, team_name
from fleet.models import Instance, InstanceVersion, Job, OwnershipRule
from fleet.queries.claims import Claims
from people.queries import team_ids_by_name


@dataclass(frozen=True)
class Owned:
    """The team (None: Unassigned) and the person ('': nobody) of a thing."""

    team_id: int | None
    owner: str


@dataclass(frozen=True)
class JobFacts:
    """What rules look at of a job."""

    owner: str
    labels: Mapping[str, str]


class Resolver:
    """Answers whose a thing is, up to ``until``; what it needs is read once, jobs when they are asked for."""

    def __init__(self, until: datetime, instance_ids: Collection[int] | None = None) -> None:
        self.rule_starts, self.rule_sets = _rule_sets(until)
        self._teams = team_ids_by_name()
        self._accounts, self._versions = _versions(until, instance_ids)
        self._claims = Claims(until, instance_ids)
        self._jobs: dict[int, JobFacts | None] = {}
        self._cache: dict[tuple[int, int, int, int | None], Owned] = {}

    def owned(self, instance_id: int, job_id: int | None, at: datetime) -> Owned:
        """Give the team and owner of a job on an instance, or of the instance itself, at ``at``."""
        rule_index = bisect_right(self.rule_starts, at) - 1
        starts, attributes = self._versions.get(instance_id, _NO_VERSION)
        version = max(bisect_right(starts, at) - 1, 0)
        key = (rule_index, instance_id, version, job_id)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._resolve(
                self.rule_sets[rule_index], instance_id, attributes[version], job_id
            )
        if found.team_id is None:
            claimed = self._claims.team_at(instance_id, job_id, at)
            return found if claimed is None else Owned(claimed, found.owner)
        return found

    def newest_attributes(self) -> dict[int, Mapping[str, Any]]:
        """Give the attributes in force at the end of what was read, by instance."""
        return {pk: attributes[-1] for pk, (_, attributes) in self._versions.items()}

    def changes(self, instance_id: int, since: datetime, until: datetime) -> list[datetime]:
        """Give the moments in (since, until) at which the answer for an instance may change."""
        starts = self._versions.get(instance_id, _NO_VERSION)[0]
        cuts = self._claims.cuts(instance_id)
        return sorted({at for at in (*self.rule_starts, *starts, *cuts) if since < at < until})

    def load_jobs(self, job_ids: Collection[int]) -> None:
        """Read many jobs at once, so that each need not be asked for."""
        new = [job_id for job_id in job_ids if job_id not in self._jobs]
        if new:
            self._jobs.update(dict.fromkeys(new))
            for pk, owner, labels in Job.objects.filter(pk__in=new).values_list("pk", "owner", "labels"):
                self._jobs[pk] = JobFacts(owner, labels)

    def _resolve(
        self, rules: Sequence[Any], instance_id: int, attributes: Mapping[str, Any], job_id: int | None
    ) -> Owned:
        job = None
        if job_id is not None:
            self.load_jobs([job_id])
            job = self._jobs[job_id]
        facts = facts_of(attributes, self._accounts.get(instance_id, ""), job)
        match = team_name(rules, facts, self._teams)
        team_id = self._teams[match.team.casefold()] if match else None
        return Owned(team_id, facts.job_owner or str(attributes.get("owner") or ""))


def resolver_for(period: Period, instance_ids: Collection[int] | None = None) -> Resolver:
    """Give a resolver for everything in ``period``, of all instances or of these."""
    return Resolver(period.end, instance_ids)


def facts_of(attributes: Mapping[str, Any], account: str, job: JobFacts | None) -> Facts:
    """Put together what rules may look at: the job's labels above the instance's."""
    labels = {**(attributes.get("labels") or {}), **(job.labels if job else {})}
    return Facts(
        namespace=str(labels.get("namespace") or ""),
        host=str(attributes.get("host") or ""),
        account=account,
        sub_account=str(attributes.get("sub_account") or ""),
        provider=str(attributes.get("provider") or ""),
        labels=labels,
        tags=attributes.get("tags") or {},
        job_owner=str((job.owner or job.labels.get("owner") or "") if job else ""),
        sku=str(attributes.get("sku") or ""),
    )


def _rule_sets(until: datetime) -> tuple[list[datetime], list[list[Mapping[str, Any]]]]:
    """Give the starts and rules of all sets up to ``until``; without any, namespaces name teams."""
    sets: dict[datetime, list[Mapping[str, Any]]] = {}
    for valid_from, spec in OwnershipRule.objects.order_by("valid_from", "position").values_list("valid_from", "spec"):
        sets.setdefault(valid_from, []).append(spec)
    if not sets:
        return [BEGINNING], [[NAMESPACE_RULE]]
    in_time = {start: rules for start, rules in sets.items() if start <= until} or {BEGINNING: [{}]}
    return list(in_time), list(in_time.values())


_NO_VERSION: tuple[list[datetime], list[Mapping[str, Any]]] = ([BEGINNING], [{}])


def _versions(
    until: datetime, instance_ids: Collection[int] | None
) -> tuple[dict[int, str], dict[int, tuple[list[datetime], list[Mapping[str, Any]]]]]:
    """Give account names and dated attributes by instance; a host that no account knows has its host only."""
    rows = Instance.objects.values_list("pk", "account__name", "host")
    dated = InstanceVersion.objects.filter(valid_from__lte=until).order_by("valid_from")
    if instance_ids is not None:
        rows, dated = rows.filter(pk__in=instance_ids), dated.filter(instance_id__in=instance_ids)
    accounts: dict[int, str] = {}
    hosts: dict[int, str] = {}
    for pk, account, host in rows:
        accounts[pk], hosts[pk] = account or "", host
    versions: defaultdict[int, tuple[list[datetime], list[Mapping[str, Any]]]] = defaultdict(lambda: ([], []))
    for instance_id, valid_from, attributes in _read(dated):
        versions[instance_id][0].append(valid_from)
        versions[instance_id][1].append(attributes)
    for pk, host in hosts.items():
        if pk not in versions:
            versions[pk] = ([BEGINNING], [{"host": host}])
    return accounts, dict(versions)


def _read(dated: Any) -> Iterable[tuple[int, datetime, Mapping[str, Any]]]:
    found: Iterable[tuple[int, datetime, Mapping[str, Any]]] = dated.values_list(
        "instance_id", "valid_from", "attributes"
    )
    return found
