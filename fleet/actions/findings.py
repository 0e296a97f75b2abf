"""Open and close findings, and with them their alerts: one per (kind, subject, episode)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from alerts.actions.alerts import raise_alerts, resolve_alerts
from alerts.domain.occurrence import Occurrence
from common.periods import iso
from fleet.domain.findings import CONTINUES_WITHIN, Found
from fleet.domain.states import FindingKind
from fleet.models import Finding

OFFSETS = "offsets"  # in evidence, for our own counting: nothing to tell
ENDED_FOR_GOOD = frozenset({"restarted", "stopped"})
Subject = tuple[str, int]


@dataclass(frozen=True)
class Synced:
    """How many findings of a kind were opened (or reopened) and closed."""

    opened: int = 0
    closed: int = 0


@transaction.atomic(savepoint=False)
def sync_findings(
    kind: FindingKind,
    found: Sequence[Found],
    *,
    now: datetime,
    subjects_seen: Collection[Subject] | None = None,
    why_closed: Mapping[Subject, str] | None = None,
    is_open: Sequence[Finding] | None = None,
) -> Synced:
    """Make the open findings of ``kind`` those that hold now, and raise and resolve their alerts.

    ``subjects_seen`` (None: all): the subjects, as (kind, row id), that were looked at; a finding about another one
    stays as it is, for no data closes nothing. ``why_closed`` gives a word for the end (default: over). What comes back
    within 30 minutes of closing goes on as the old finding, unless it ended with a restart or a stop. ``is_open``: the
    open findings of the kind, where the caller has read them.
    """
    holding = {one.key: one for one in found}
    closed: list[Finding] = []
    changed: list[Finding] = []
    still_open: set[Subject] = set()
    for row in open_findings(kind) if is_open is None else is_open:
        key = (row.subject_kind, row.subject_id)
        one = holding.get(key)
        if one is not None and not _is_newer_episode(one, row):
            still_open.add(key)
            if _take_over(row, one):
                changed.append(row)
        elif one is not None or subjects_seen is None or key in subjects_seen:
            row.closed_at, row.closed_because = now, _why(key, one, why_closed)
            closed.append(row)
    _update(changed, "since", "evidence", "team")
    _update(closed, "closed_at", "closed_because")
    _resolve(kind, closed, now=now)
    new = [one for key, one in holding.items() if key not in still_open]
    _open(kind, new, now=now)
    return Synced(len(new), len(closed))


def open_findings(kind: FindingKind | None = None) -> list[Finding]:
    """Read the open findings, of one kind or of all, with their accounts."""
    rows = Finding.objects.filter(closed_at=None).select_related("instance__account")
    return list(rows if kind is None else rows.filter(kind=kind))


def _update(rows: Sequence[Finding], *fields: str) -> None:
    if rows:
        Finding.objects.bulk_update(rows, list(fields), batch_size=1000)


def _is_newer_episode(one: Found, row: Finding) -> bool:
    return one.not_before is not None and row.opened_at <= one.not_before and one.since >= one.not_before


def _why(key: Subject, one: Found | None, why_closed: Mapping[Subject, str] | None) -> str:
    return "over" if one is not None else (why_closed or {}).get(key, "over")


def _take_over(row: Finding, one: Found) -> bool:
    """Bring an open finding up to date; say whether anything differs."""
    new = (one.since, dict(one.evidence), one.team_id)
    if (row.since, row.evidence, row.team_id) == new:
        return False
    row.since, row.evidence, row.team_id = new
    return True


def _open(kind: FindingKind, new: Sequence[Found], *, now: datetime) -> None:
    """Open what is new, or go on with what closed a moment ago."""
    if not new:
        return
    wanted = {one.key: one for one in new}
    again: list[Finding] = []
    recent = Finding.objects.filter(kind=kind, subject_id__in={pk for _, pk in wanted}, closed_at__isnull=False)
    for row in recent.order_by("closed_at"):
        one = wanted.get((row.subject_kind, row.subject_id))
        if one is not None and _goes_on(row, one, now):
            row.closed_at, row.closed_because, row.reopened = None, "", row.reopened + 1
            _take_over(row, one)
            again.append(row)
            del wanted[one.key]
    _update(again, "closed_at", "closed_because", "reopened", "since", "evidence", "team")
    Finding.objects.bulk_create([_row(one, now) for one in wanted.values()], batch_size=1000)
    episodes = {(row.subject_kind, row.subject_id): row.episode for row in again}
    raise_alerts([_occurrence(one, episodes.get(one.key, one.since)) for one in new], now=now)


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


def _occurrence(one: Found, episode: datetime) -> Occurrence:
    facts: dict[str, Any] = {
        "kind": str(one.kind),
        "subject": one.subject_name,
        "subject_kind": one.subject_kind,
        "account": one.account or None,
        "since": iso(one.since),
        "owner": one.owner or None,
        "team_id": one.team_id,
        "link": f"/records/{one.instance_id}/" if one.instance_id else "/",
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


def _resolve(kind: FindingKind, closed: Iterable[Finding], *, now: datetime) -> None:
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in closed:
        account = row.instance.account.name if row.instance and row.instance.account else ""
        groups[row.subject_kind, account].append(row.subject_name)
    for (subject_kind, account), subjects in groups.items():
        resolve_alerts(rule=str(kind), subject_kind=subject_kind, subjects=subjects, account=account, now=now)
