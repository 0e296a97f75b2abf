"""Open and close findings, and with them their alerts: one per (kind, subject, episode)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection, transaction

from alerts.actions.alerts import raise_alerts, resolve_alerts
from alerts.domain.occurrence import Occurrence
from common.database import take_lock
from common.periods import iso
from fleet.domain.findings import CONTINUES_WITHIN, Found
from fleet.domain.states import FindingKind
from fleet.models import Finding
from people.queries import teams

OFFSETS = "offsets"  # in evidence, for our own counting: nothing to tell
ENDED_FOR_GOOD = frozenset({"restarted", "stopped"})
Subject = tuple[str, int]


@dataclass(frozen=True)
class Synced:
    """How many findings of a kind were opened (or reopened) and closed."""

    opened: int = 0
    closed: int = 0


@dataclass
class OpenFinding:
    """An open finding as it is read: lean, since a fleet may have one for every instance."""

    id: int
    kind: str
    subject_kind: str
    subject_id: int
    subject_name: str
    account: str
    episode: datetime
    since: datetime
    opened_at: datetime
    team_id: int | None
    evidence: dict[str, Any]

    @property
    def key(self) -> Subject:
        """The subject."""
        return self.subject_kind, self.subject_id


@transaction.atomic(savepoint=False)
def sync_findings(
    kind: FindingKind,
    found: Sequence[Found],
    *,
    now: datetime,
    subjects_seen: Collection[Subject] | None = None,
    why_closed: Mapping[Subject, str] | None = None,
    is_open: Sequence[OpenFinding] | None = None,
) -> Synced:
    """Make the open findings of ``kind`` those that hold now, and raise and resolve their alerts.

    ``subjects_seen`` (None: all): the subjects, as (kind, row id), that were looked at; a finding about another one
    stays as it is, for no data closes nothing. ``why_closed`` gives a word for the end (default: over). What comes back
    within 30 minutes of closing goes on as the old finding, unless it ended with a restart or a stop. ``is_open``: the
    open findings of the kind, where the caller has read them.
    """
    take_lock(f"findings {kind}")  # two at once would open the same
    holding = {one.key: one for one in found}
    closed: list[tuple[OpenFinding, str]] = []
    changed: list[tuple[int, Found]] = []
    still_open: set[Subject] = set()
    for row in open_findings(kind) if is_open is None else is_open:
        one = holding.get(row.key)
        if one is not None and not _is_newer_episode(one, row):
            still_open.add(row.key)
            if (row.since, row.team_id, row.evidence) != (one.since, one.team_id, one.evidence):
                changed.append((row.id, one))
        elif one is not None or subjects_seen is None or row.key in subjects_seen:
            closed.append((row, (why_closed or {}).get(row.key, "over")))
    _update(changed)
    _close(kind, closed, now=now)
    new = [one for key, one in holding.items() if key not in still_open]
    _open(kind, new, now=now, ended={row.key for row, _ in closed})
    return Synced(len(new), len(closed))


def open_findings(kind: FindingKind | None = None) -> list[OpenFinding]:
    """Read the open findings, of one kind or of all."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT f.id, f.kind, f.subject_kind, f.subject_id, f.subject_name, coalesce(a.name, ''), f.episode,"
            " f.since, f.opened_at, f.team_id, f.evidence::text FROM fleet_finding f"
            " LEFT JOIN fleet_instance i ON i.id = f.instance_id LEFT JOIN fleet_account a ON a.id = i.account_id"
            " WHERE f.closed_at IS NULL AND (%(kind)s::text IS NULL OR f.kind = %(kind)s)",
            {"kind": None if kind is None else str(kind)},
        )
        return [OpenFinding(*(*row[:-1], orjson.loads(row[-1]))) for row in cursor.fetchall()]


def _is_newer_episode(one: Found, row: OpenFinding) -> bool:
    return one.not_before is not None and row.opened_at <= one.not_before and one.since >= one.not_before


def _update(changed: Sequence[tuple[int, Found]], *, reopens: bool = False) -> None:
    """Write what open findings say now."""
    if not changed:
        return
    again = ", closed_at = NULL, closed_because = '', reopened = reopened + 1" if reopens else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE fleet_finding AS row SET since = new.since, team_id = new.team_id, evidence = new.evidence{again}"
            " FROM unnest(%s::bigint[], %s::timestamptz[], %s::bigint[], %s::jsonb[])"
            " AS new (id, since, team_id, evidence) WHERE row.id = new.id",
            [
                [pk for pk, _ in changed],
                [one.since for _, one in changed],
                [one.team_id for _, one in changed],
                [orjson.dumps(dict(one.evidence)).decode() for _, one in changed],
            ],
        )


def _close(kind: FindingKind, closed: Sequence[tuple[OpenFinding, str]], *, now: datetime) -> None:
    """Close findings and resolve their alerts."""
    if not closed:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE fleet_finding AS row SET closed_at = %s, closed_because = over.why"
            " FROM unnest(%s::bigint[], %s::text[]) AS over (id, why) WHERE row.id = over.id",
            [now, [row.id for row, _ in closed], [why for _, why in closed]],
        )
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row, _ in closed:
        groups[row.subject_kind, row.account].append(row.subject_name)
    for (subject_kind, account), subjects in groups.items():
        resolve_alerts(rule=str(kind), subject_kind=subject_kind, subjects=subjects, account=account, now=now)


def _open(kind: FindingKind, new: Sequence[Found], *, now: datetime, ended: Collection[Subject]) -> None:
    """Open what is new, or go on with what closed a moment ago; never with what this pass has ``ended``."""
    if not new:
        return
    wanted = {one.key: one for one in new}
    again: list[tuple[int, Found]] = []
    episodes: dict[Subject, datetime] = {}
    recent = Finding.objects.filter(kind=kind, subject_id__in={pk for _, pk in wanted}, closed_at__isnull=False)
    for row in recent.order_by("-closed_at").defer("evidence"):
        one = wanted.get((row.subject_kind, row.subject_id))
        if one is not None and one.key not in ended and _goes_on(row, one, now):
            again.append((row.pk, one))
            episodes[one.key] = row.episode
            del wanted[one.key]
    _update(again, reopens=True)
    Finding.objects.bulk_create([_row(one, now) for one in wanted.values()], batch_size=1000)
    names = {pk: team.name for pk, team in teams().items()}
    told = [_occurrence(one, episodes.get(one.key, one.since), names, now) for one in new]
    raise_alerts(told, now=now)


def _goes_on(row: Finding, one: Found, now: datetime) -> bool:
    """Whether a closed finding continues: the same episode, or one that closed a moment ago."""
    if row.episode == one.since:
        return True
    is_recent = row.closed_at is not None and now - row.closed_at <= CONTINUES_WITHIN
    return is_recent and row.closed_because not in ENDED_FOR_GOOD


def _row(one: Found, now: datetime) -> Finding:
    return Finding(
        kind=one.kind,
        subject_kind=one.subject_kind,
        subject_id=one.subject_id,
        subject_name=one.subject_name,
        instance_id=one.instance_id,
        team_id=one.team_id,
        episode=one.since,
        since=one.since,
        opened_at=now,
        evidence=dict(one.evidence),
    )


def _occurrence(one: Found, episode: datetime, names: Mapping[int, str], now: datetime) -> Occurrence:
    facts: dict[str, Any] = {
        "kind": str(one.kind),
        "subject": one.subject_name,
        "subject_kind": one.subject_kind,
        "account": one.account or None,
        "since": iso(one.since),
        "owner": one.owner or None,
        "team": names.get(one.team_id) if one.team_id is not None else None,
        "link": one.link,
        "at": iso(now),
        **{key: value for key, value in one.evidence.items() if key != OFFSETS},
        **one.facts,
    }
    return Occurrence(
        rule=str(one.kind),
        kind=str(one.kind),
        subject_kind=one.subject_kind,
        subject=one.subject_name,
        account=one.account,
        team_id=one.team_id,
        owner=one.owner,
        episode=iso(episode),
        facts=facts,
    )
