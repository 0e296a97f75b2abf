"""What stands in the tables of `billing`, in the form of fleet.yaml."""

from __future__ import annotations

from typing import Any

from billing.models import Budget, Commitment, Mapping, Price

Form = dict[str, Any]


def price_forms() -> list[Form]:
    """Give the prices that were declared and still stand, as they were declared."""
    rows = Price.objects.filter(is_suggested=False).exclude(declared=None).order_by("pk")
    return [dict(row.declared or {}) for row in rows if row.declared != {"ended": True}]


def commitment_forms() -> list[Form]:
    """Give the commitments."""
    return [dict(row.spec) for row in Commitment.objects.order_by("pk")]


def budget_forms() -> list[Form]:
    """Give the budgets."""
    return [dict(row.spec) for row in Budget.objects.order_by("pk")]


def mapping_forms() -> list[Form]:
    """Give the mappings of imports."""
    return [dict(row.spec) for row in Mapping.objects.order_by("pk")]
