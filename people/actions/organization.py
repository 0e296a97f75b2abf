"""Declare the organisation and the sections that are kept for later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from common.declared import Change, Spec, Verb, differing, settle_leftovers
from common.errors import Refused
from people.actions.audit import record
from people.actions.authority import authority_of
from people.actions.past import keep_month_length
from people.models import KeptSection, Organization, User
from people.roles import Right

PLAIN = ("name", "currency", "time_zone")


def declare_organization(spec: Spec, *, now: datetime) -> list[Change]:
    """Bring the one organisation to ``spec`` (its idle rule is kept by `fleet`).

    A first declaration holds always; a month of another length counts from ``now`` on.
    """
    row = Organization.objects.select_for_update().filter(pk=1).first() or Organization(pk=1)
    wanted = {key: value for key, value in spec.items() if key != "idle"}
    fields = differing(_current(row), wanted)
    first = row.declared is None
    if not first and not fields:
        return [Change(Verb.UNCHANGED, "organization", row.name)]
    for key in PLAIN:
        setattr(row, key, wanted[key])
    row.working_hours = wanted.get("working_hours") or {}
    row.holidays = wanted.get("holidays") or []
    hours = Decimal(wanted["hours_per_month"])
    if not first and hours != row.hours_per_month:
        keep_month_length(row.hours_per_month, until=now)
    row.hours_per_month = hours
    row.declared = wanted
    row.save()
    return [Change(Verb.CREATED if first else Verb.CHANGED, "organization", row.name, () if first else fields)]


def _current(row: Organization) -> dict[str, Any]:
    """Give the organisation's form as it is now."""
    hours = Decimal(row.hours_per_month)
    written = Decimal((row.declared or {}).get("hours_per_month", "0"))
    return {
        **{key: getattr(row, key) for key in PLAIN},
        "working_hours": row.working_hours or None,
        "holidays": row.holidays or None,
        "hours_per_month": row.declared["hours_per_month"] if row.declared and written == hours else f"{hours:f}",
    }


def declare_kept_sections(sections: Mapping[str, Any], *, prune: bool) -> list[Change]:
    """Keep reserved sections as they are written."""
    rows = {row.name: row for row in KeptSection.objects.all()}
    changes = []
    for name, content in sections.items():
        row = rows.get(name)
        verb = Verb.CREATED if row is None else Verb.UNCHANGED if row.content == content else Verb.CHANGED
        if verb is not Verb.UNCHANGED:
            KeptSection.objects.update_or_create(name=name, defaults={"content": content, "declared": {}})
        changes.append(Change(verb, "section", name, ("content",) if verb is Verb.CHANGED else ()))
    left = settle_leftovers("section", rows, sections, prune=prune, remove=lambda row: row.delete())
    return [*changes, *left]


@transaction.atomic
def change_organization(spec: Spec, *, now: datetime, by: User) -> bool:
    """Change name, currency and zone by hand; say whether something is different.

    Raises Refused (not_permitted, managed_by_file).
    """
    authority_of(by).demand(Right.MANAGE_SETTINGS)
    row = Organization.objects.select_for_update().get(pk=1)
    if row.declared is not None:
        raise Refused(
            "managed_by_file", "fleet.yaml manages the organisation.", hint="Change it there, apply it again."
        )
    changed = {key: [getattr(row, key), spec[key]] for key in PLAIN if getattr(row, key) != spec[key]}
    for key in changed:
        setattr(row, key, spec[key])
    if changed:
        row.save(update_fields=list(changed))
        record(
            now=now, by=by.email, action="change_organization", subject_kind="organization", subject=row.name,
            changes=changed,
        )  # fmt: skip
    return bool(changed)
