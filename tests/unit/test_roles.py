"""The table of rights: what it says, and that the reference says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from people.roles import ROLE_ORDER, RULES, Grant, Right, has_right, may_grant, scope_of

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "roles.md"
PARENTS: dict[int, int | None] = {1: None, 2: 1, 3: None}


def table() -> str:
    """Print the table as the reference has it."""
    lines = [f"| right | {' | '.join(role.replace('_', ' ') for role in ROLE_ORDER)} |", "|---" * 6 + "|"]
    for rule in RULES:
        about = str(rule.about) + (" (only with a role for everything)" if rule.whole_only else "")
        marks = ["yes" if role in rule.roles else "" for role in ROLE_ORDER]
        lines.append(f"| {about} | {' | '.join(marks)} |")
    return "\n".join(lines)


def test_the_reference_has_the_table() -> None:
    assert settings.configured
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(r"begin -->\n\n(.*)\n\n<!-- printed", text, re.DOTALL)
    assert found is not None
    assert found[1] == table()


def test_every_right_has_one_rule() -> None:
    assert sorted(rule.right for rule in RULES) == sorted(Right)


@pytest.mark.parametrize(
    ("grant", "right", "scope"),
    [
        (Grant("admin", None), Right.MANAGE_PEOPLE, None),
        (Grant("admin", 1), Right.MANAGE_PEOPLE, frozenset()),
        (Grant("admin", 1), Right.CLAIM, frozenset({1, 2})),
        (Grant("team_lead", 1), Right.INVITE, frozenset({1, 2})),
        (Grant("team_lead", None), Right.MANAGE_PEOPLE, frozenset()),
        (Grant("finance", None), Right.READ_AUDIT, None),
        (Grant("finance", 3), Right.READ_AUDIT, frozenset()),
        (Grant("viewer", None), Right.CLAIM, frozenset()),
        (Grant("viewer", 3), Right.SEE, frozenset({3})),
        (Grant("engineer", 9), Right.SEE, frozenset()),
    ],
)
def test_a_right_has_the_scope_of_its_grants(grant: Grant, right: Right, scope: frozenset[int] | None) -> None:
    assert scope_of(right, [grant], PARENTS) == scope
    assert has_right(right, [grant], PARENTS) is (scope is None)
    assert has_right(right, [grant], PARENTS, 2) is (scope is None or 2 in scope)


def test_a_circle_of_parents_ends() -> None:
    assert scope_of(Right.SEE, [Grant("viewer", 1)], {1: 2, 2: 1}) == frozenset({1, 2})


@pytest.mark.parametrize("role", ROLE_ORDER)
@pytest.mark.parametrize("team", [None, 1, 2, 3])
def test_who_may_give_what(role: str, team: int | None) -> None:
    assert may_grant([Grant("admin", None)], role, team, PARENTS)
    assert may_grant([Grant("team_lead", 1)], role, team, PARENTS) is (
        role in {"viewer", "engineer"} and team in {1, 2}
    )
    for other in ("viewer", "engineer", "finance"):
        assert not may_grant([Grant(other, None)], role, team, PARENTS)
