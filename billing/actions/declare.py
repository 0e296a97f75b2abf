"""Declare commitments, budgets and import mappings."""

from __future__ import annotations

from collections.abc import Sequence

from billing.models import Budget, Commitment, Mapping
from common.declared import Change, Spec, declare_rows, settle_leftovers


def declare_commitments(wanted: Sequence[Spec], *, prune: bool) -> list[Change]:
    """Create and change commitments."""
    return _declare("commitment", Commitment, wanted, prune=prune)


def declare_budgets(wanted: Sequence[Spec], *, prune: bool) -> list[Change]:
    """Create and change budgets."""
    return _declare("budget", Budget, wanted, prune=prune)


def declare_mappings(wanted: Sequence[Spec], *, prune: bool) -> list[Change]:
    """Create and change import mappings."""
    return _declare("mapping", Mapping, wanted, prune=prune)


def _declare(
    kind: str, model: type[Commitment] | type[Budget] | type[Mapping], wanted: Sequence[Spec], *, prune: bool
) -> list[Change]:
    """Keep named things as declared."""
    rows = {row.name: row for row in model.objects.all()}

    def fill(row: Commitment | Budget | Mapping, spec: Spec) -> None:
        row.name, row.spec = spec["name"], dict(spec)

    names = [(spec["name"], spec) for spec in wanted]
    changes = declare_rows(
        kind, rows, names, make=lambda name: model(name=name), fill=fill, current=lambda row: row.spec
    )
    return [*changes, *settle_leftovers(kind, rows, dict(names), prune=prune, remove=lambda row: row.delete())]
