"""Connect a source by hand: the same row as a file's, which says that no file declared it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.declared import Spec
from common.errors import Refused
from fleet.actions.declare import fill_source
from fleet.models import Source
from fleet.queries.source_checks import Check, check_source
from people.actions.audit import record


def try_source(spec: Spec, *, now: datetime) -> list[Check]:
    """Ask a source that is not kept yet, as `doctor` does; writes nothing."""
    row = Source()
    fill_source(row, spec)
    return check_source(row, now=now)


@transaction.atomic
def connect_source(spec: Spec, *, now: datetime, by: str) -> None:
    """Keep a source, or change the one of that name. Raises Refused (managed_by_file).

    The audit trail tells its address and how it signs in, by name; whether private addresses were allowed.
    """
    row = Source.objects.select_for_update().filter(name=spec["name"]).first() or Source()
    is_new = row.pk is None
    if row.declared is not None:
        raise Refused("managed_by_file", "fleet.yaml manages this source.", hint="Change the file and apply it again.")
    fill_source(row, spec)
    row.save()
    record(
        now=now, by=by, action="connect_source" if is_new else "change_source", subject_kind="source", subject=row.name,
        url=row.spec.get("url"), auth=sorted(row.spec.get("auth") or ()),
        private_addresses="refused" if row.spec.get("public_only") else "allowed",
    )  # fmt: skip
