"""Change what a source or an account was made with, outside of a file: rows that no file declares, and the demo's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction

from fleet.models import Account, Source

Spec = Mapping[str, Any]
Change = Callable[[Spec], Spec]


@transaction.atomic
def change_source(*, name: str, change: Change) -> None:
    """Replace the declaration of a source by what ``change`` makes of it; nobody else writes it meanwhile."""
    row = Source.objects.select_for_update().get(name=name)
    row.spec = dict(change(row.spec))
    row.save(update_fields=["spec"])


@transaction.atomic
def change_account(*, name: str, change: Change) -> None:
    """Replace that of an account; its inventory is read again at the next pass."""
    row = Account.objects.select_for_update().get(name=name)
    row.spec, row.synced_at = dict(change(row.spec)), None
    row.save(update_fields=["spec", "synced_at"])
