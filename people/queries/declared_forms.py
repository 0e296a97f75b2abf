"""What stands in the tables of `people`, in the form of fleet.yaml."""

from __future__ import annotations

from typing import Any

from people.models import KeptSection, Team, User
from people.queries import organization

Form = dict[str, Any]


def organization_form() -> Form:
    """Give the organisation without its idle rule."""
    return organization_as_it_is()[0]


def organization_as_it_is() -> tuple[Form, bool]:
    """Give the organisation without its idle rule, and whether fleet.yaml gave it."""
    row = organization()
    hours = (row.declared or {}).get("hours_per_month") or f"{row.hours_per_month:f}"
    form = {
        "name": row.name, "currency": row.currency, "time_zone": row.time_zone,
        **({"working_hours": row.working_hours} if row.working_hours else {}),
        **({"holidays": row.holidays} if row.holidays else {}), "hours_per_month": hours,
    }  # fmt: skip
    return form, row.declared is not None


def team_forms() -> list[Form]:
    """Give the teams by row."""
    return [
        {"name": team.name}
        | ({"parent": team.parent.name} if team.parent else {})
        | ({"cost_center": team.cost_center} if team.cost_center else {})
        for team in Team.objects.select_related("parent").order_by("pk")
    ]


def person_forms() -> list[Form]:
    """Give the active people with their roles."""
    forms = []
    for user in User.objects.filter(is_active=True).prefetch_related("grants__team").order_by("pk"):
        roles = sorted((grant.role, grant.team.name if grant.team else "") for grant in user.grants.all())
        forms.append(
            {"email": user.email}
            | ({"name": user.name} if user.name else {})
            | ({"time_zone": user.time_zone} if user.time_zone else {})
            | {"roles": [{"role": role, **({"team": team} if team else {})} for role, team in roles]}
        )
    return forms


def kept_sections() -> Form:
    """Give the reserved sections as they were written."""
    return dict(KeptSection.objects.order_by("pk").values_list("name", "content"))
