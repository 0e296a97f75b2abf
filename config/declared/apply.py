"""Apply a file: check all of it, then write all of it in one transaction, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction

from alerts.actions.channels import mend_channels
from alerts.actions.declare import declare_channels, declare_routes
from billing.actions.declare import declare_budgets, declare_commitments, declare_mappings
from billing.actions.declare_prices import declare_prices
from common.database import take_lock
from common.declared import Change, Verb
from common.errors import Where
from common.periods import BEGINNING
from config.declared.checks import check_document
from config.declared.document import Document, read_document
from config.declared.inventory import declare_inventory
from config.declared.price_moves import warn_of_moves
from config.declared.result import ApplyResult, Warned
from config.declared.sections import KEPT
from fleet.actions.changed_hours import mark_unassigned
from fleet.actions.declare import declare_exemptions, declare_idle_rule, declare_policies, declare_sources
from fleet.actions.ownership import declare_ownership, refresh_job_teams, refresh_teams
from fleet.actions.remetered import mark_remetered
from people.actions.audit import SYSTEM, record
from people.actions.organization import declare_kept_sections, declare_organization
from people.actions.persons import declare_people
from people.actions.teams import declare_teams, settle_teams
from people.queries import month_lengths, organization, organization_zone

DETAILS = 500  # changes that one audit event spells out


def apply_file(
    path: Path, *, now: datetime, dry_run: bool = False, prune: bool = False, by: str = SYSTEM
) -> ApplyResult:
    """Bring the database to what ``path`` declares, in one transaction; ``dry_run`` does the same and takes it back.

    ``now``: since when a change holds that says no date of its own. Raises BadInput (all errors of the file at once) or
    Refused; then nothing is written.
    """
    with transaction.atomic():
        take_lock("config.apply")
        document = read_document(path, organization_zone())
        check_document(document, prune=prune)
        document.refuse_if_wrong()
        changes = _declare(document, now=now, prune=prune)
        mend_channels([channel["name"] for channel in document.values.get("channels") or ()], now=now, by=by)
        result = ApplyResult(changes, [*document.warnings, *_left(document, changes)])
        _audit(path, result, now=now, by=by)
        if dry_run:
            transaction.set_rollback(True)
    return result


def _declare(document: Document, *, now: datetime, prune: bool) -> list[Change]:
    """Call every app's declare actions, what is referred to before what refers to it."""
    values = document.values

    def listed(name: str) -> Sequence[Mapping[str, Any]]:
        return values.get(name) or []

    changes = _declare_people(document, now=now, prune=prune)
    changes += declare_idle_rule(document.section("organization").get("idle"), now=now)
    if "ownership" in values:
        changes += declare_ownership(listed("ownership"), now=now)
    changes += declare_sources(listed("sources"), prune=prune)
    changes += declare_inventory(listed("accounts"), now=now, prune=prune)
    prices = declare_prices(listed("prices"), now=now, prune=prune, currency=organization().currency)
    changes += prices.changes
    warn_of_moves(document, prices.moves)
    changes += declare_commitments(listed("commitments"), prune=prune)
    changes += declare_policies(listed("policies"), prune=prune)
    changes += declare_exemptions(listed("exemptions"), prune=prune)
    changes += declare_budgets(listed("budgets"), prune=prune)
    changes += declare_channels(listed("channels"), prune=prune)
    if "routes" in values:
        changes += declare_routes(listed("routes"))
    changes += declare_mappings(listed("mappings"), prune=prune)
    changes += declare_kept_sections({name: values[name] for name in KEPT if name in values}, prune=prune)
    changes += settle_teams([team["name"] for team in listed("teams")], prune=prune)
    refresh_teams(now=now)
    refresh_job_teams(now=now)
    return changes


def _declare_people(document: Document, *, now: datetime, prune: bool) -> list[Change]:
    """Declare the organisation, teams and people."""
    values = document.values
    lengths = month_lengths()
    changes = declare_organization(values["organization"], now=now) if values.get("organization") else []
    if month_lengths() != lengths:
        mark_remetered(since=now if len(month_lengths()) > 1 else BEGINNING)
    teams = declare_teams(values.get("teams") or [], now=now)
    if any(change.verb is Verb.CREATED for change in teams):
        mark_unassigned()  # a name that was unknown may be one of these
    return [*changes, *teams, *declare_people(values.get("people") or [], prune=prune)]


def _left(document: Document, changes: Sequence[Change]) -> list[Warned]:
    """Warn of what a file declared once and this one does not."""
    return [
        Warned(
            "no_longer_declared",
            Where(document.file),
            f"{change.kind} {change.name} was declared once and is kept. Use --prune to remove it.",
        )
        for change in changes
        if change.verb is Verb.LEFT
    ]


def _audit(path: Path, result: ApplyResult, *, now: datetime, by: str) -> None:
    """Write one event with the counts and the changes by name and field; values stay out, they may name secrets."""
    counts = Counter(change.verb.value for change in result.changes)
    told = [change for change in result.changes if change.verb in (Verb.CREATED, Verb.CHANGED, Verb.REMOVED)]
    record(
        now=now,
        by=by,
        action="apply",
        subject_kind="file",
        subject=path.name[:300],
        counts=dict(counts),
        changes=[
            {"verb": change.verb.value, "kind": change.kind, "name": change.name, "fields": list(change.fields)}
            for change in told[:DETAILS]
        ],
    )
