"""Find people by name or address: for who manages them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from people.models import User


@dataclass(frozen=True)
class FoundPerson:
    """A person."""

    name: str
    email: str


def find_people(text: str, limit: int) -> list[FoundPerson]:
    """Give people whose name or address holds ``text``, by address."""
    rows = User.objects.filter(Q(email__icontains=text) | Q(name__icontains=text)).order_by("email")
    return [FoundPerson(*row) for row in rows.values_list("name", "email")[:limit]]
