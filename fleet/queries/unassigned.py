"""What no rule and no claim gives to a team: machines and jobs, with the facts that point to one. Open claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import orjson
from django.db import connection

from fleet.domain.suggestions import Clues, stem
from fleet.models import Claim, OwnershipRule
from fleet.queries.standing import instance_path
from people.roles import TeamChoice

LATELY = timedelta(days=92)
"""What ended longer ago stands in the totals, and is claimed by nobody."""
MOST = 2000


@dataclass(frozen=True)
class Unclaimed:
    """A machine or a job without a team. ``instance_id``: of a job the machine that it used last."""

    kind: Literal["instance", "job"]
    id: int
    name: str
    account: str | None
    instance_id: int
    instance_name: str
    since: datetime | None
    running: str
    state: str
    is_unknown_host: bool
    clues: Clues
    tags: Mapping[str, Any]

    @property
    def path(self) -> str:
        """The record of the machine."""
        return instance_path(self.account, self.instance_name)


@dataclass(frozen=True)
class OpenClaim:
    """A claim that holds: of what, for which team, since when, by whom."""

    id: int
    kind: str
    name: str
    team_id: int
    valid_from: datetime
    made_at: datetime
    made_by: str


def unclaimed(now: datetime, owner_teams: Mapping[str, Sequence[int]]) -> list[Unclaimed]:
    """Give what is without a team. ``owner_teams``: casefolded name of a person -> the teams they belong to."""
    with connection.cursor() as cursor:
        cursor.execute(_INSTANCES, {"since": now - LATELY, "most": MOST})
        machines = cursor.fetchall()
        cursor.execute(_JOBS, {"since": now - LATELY, "most": MOST})
        jobs = cursor.fetchall()
    near = _neighbours({stem(row[1]) for row in machines})
    return [
        *(_machine(row, near, owner_teams) for row in machines),
        *(_job(row, owner_teams) for row in jobs),
    ]


def _machine(
    row: Sequence[Any], near: Mapping[str, Mapping[int, int]], owner_teams: Mapping[str, Sequence[int]]
) -> Unclaimed:
    pk, name, account, host, since, running, state, is_unknown, text, job_teams, namespace = row
    attributes = orjson.loads(text or "{}")
    tags = {**(attributes.get("labels") or {}), **(attributes.get("tags") or {})}
    owner = str(attributes.get("owner") or "")
    clues = Clues(
        host=host or name, namespace=namespace or str(tags.get("namespace") or ""), owner=owner, tags=tags,
        jobs=job_teams or (), owner_teams=owner_teams.get(owner.casefold(), ()), neighbours=near.get(stem(name), {}),
    )  # fmt: skip
    return Unclaimed("instance", pk, name, account, pk, name, since, running, state, is_unknown, clues, tags)


def _job(row: Sequence[Any], owner_teams: Mapping[str, Sequence[int]]) -> Unclaimed:
    pk, name, owner, text, since, ended_at, instance_id, instance, account = row
    labels = orjson.loads(text or "{}")
    clues = Clues(
        namespace=str(labels.get("namespace") or ""), owner=owner, tags=labels,
        owner_teams=owner_teams.get(owner.casefold(), ()),
    )  # fmt: skip
    running = "ended" if ended_at else "running"
    return Unclaimed("job", pk, name, account, instance_id, instance, since, running, "", False, clues, labels)


def _neighbours(stems: Collection[str]) -> dict[str, dict[int, int]]:
    """Give stem -> team -> how many machines of that team have it."""
    known = [one for one in stems if len(one) > 1]
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    if not known:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_NEIGHBOURS, [known])
        for text, team, count in cursor.fetchall():
            found[text][team] = count
    return dict(found)


def rules_now(now: datetime) -> list[Mapping[str, Any]] | None:
    """Give the rules in force; None while nobody has declared any."""
    newest = OwnershipRule.objects.filter(valid_from__lte=now).order_by("-valid_from").values("valid_from")[:1]
    rules = list(OwnershipRule.objects.filter(valid_from=newest).order_by("position").values_list("spec", flat=True))
    return rules or None


def open_claims(choice: TeamChoice, made_since: datetime) -> list[OpenClaim]:
    """Give the open claims for these teams, the newest first."""
    rows: Iterable[Claim] = (
        Claim.objects.filter(valid_to=None, made_at__gte=made_since)
        .select_related("instance", "job").order_by("-made_at", "-pk")
    )  # fmt: skip
    found = []
    for row in rows:
        thing = row.instance or row.job
        if thing is not None and choice.covers(row.team_id):
            kind = "instance" if row.instance_id else "job"
            found.append(
                OpenClaim(row.pk, kind, thing.external_id, row.team_id, row.valid_from, row.made_at, row.made_by)
            )
    return found


def claim_team(claim_id: int) -> int | None:
    """Give the team of an open claim; None: there is none."""
    return Claim.objects.filter(pk=claim_id, valid_to=None).values_list("team_id", flat=True).first()


_INSTANCES = """
    SELECT i.id, i.external_id, a.name, i.host, coalesce(i.launched_at, i.first_seen_at, s.first), i.state,
           coalesce(v.state, ''), a.id IS NULL, i.attributes::text,
           (SELECT array_agg(DISTINCT j.team_id) FROM fleet_gpuuse u JOIN fleet_gpu g ON g.id = u.gpu_id
            JOIN fleet_job j ON j.id = u.job_id
            WHERE g.instance_id = i.id AND u."end" IS NULL AND j.ended_at IS NULL AND j.team_id IS NOT NULL),
           (SELECT min(j.labels ->> 'namespace') FROM fleet_gpuuse u JOIN fleet_gpu g ON g.id = u.gpu_id
            JOIN fleet_job j ON j.id = u.job_id WHERE g.instance_id = i.id AND u."end" IS NULL AND j.ended_at IS NULL)
    FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
    LEFT JOIN LATERAL (SELECT min(start) AS first FROM fleet_instancestate WHERE instance_id = i.id AND start > 'epoch')
        s ON true
    LEFT JOIN fleet_verdict v ON v.subject_kind = 'instance' AND v.subject_id = i.id AND v."end" IS NULL
    LEFT JOIN fleet_finding f ON f.kind = 'unassigned' AND f.subject_kind = 'instance' AND f.subject_id = i.id
        AND f.closed_at IS NULL
    WHERE (i.team_id IS NULL OR f.id IS NOT NULL)
      AND (i.state NOT IN ('terminated', 'gone') OR i.last_seen_at > %(since)s)
      AND NOT EXISTS (SELECT 1 FROM fleet_claim c WHERE c.instance_id = i.id AND c.valid_to IS NULL)
    ORDER BY i.external_id LIMIT %(most)s
"""
_JOBS = """
    SELECT j.id, j.external_id, j.owner, j.labels::text, j.started_at, j.ended_at, i.id, i.external_id, a.name
    FROM fleet_job j
    JOIN LATERAL (SELECT g.instance_id FROM fleet_gpuuse u JOIN fleet_gpu g ON g.id = u.gpu_id
                  WHERE u.job_id = j.id ORDER BY u.start DESC LIMIT 1) used ON true
    JOIN fleet_instance i ON i.id = used.instance_id LEFT JOIN fleet_account a ON a.id = i.account_id
    WHERE j.team_id IS NULL AND (j.ended_at IS NULL OR j.ended_at > %(since)s) AND i.team_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM fleet_claim c WHERE c.job_id = j.id AND c.valid_to IS NULL)
    ORDER BY j.started_at DESC LIMIT %(most)s
"""
_NEIGHBOURS = r"""
    SELECT stem, team_id, count(*) FROM (
        SELECT regexp_replace(lower(split_part(external_id, '.', 1)), '\d+$', '') AS stem, team_id
        FROM fleet_instance WHERE team_id IS NOT NULL AND state NOT IN ('terminated', 'gone')
    ) named WHERE stem = ANY(%s) GROUP BY 1, 2
"""
