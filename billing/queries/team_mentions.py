"""Where budgets name a team: a rename has to be made there first."""

from __future__ import annotations

from billing.models import Budget


def budget_mentions(team: str) -> list[str]:
    """Give the budgets that name a team, as people find them in fleet.yaml."""
    rows = Budget.objects.order_by("name").values_list("name", "spec")
    return [f"budgets: {name}" for name, spec in rows if str(spec.get("team") or "").casefold() == team.casefold()]
