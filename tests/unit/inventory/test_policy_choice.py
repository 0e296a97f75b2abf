"""One policy for an instance: the first that selects it and does not exclude it."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.domain.policies import Choice, PolicyFacts, choose, selector

DEV = {
    "select": {"teams": ["nlp"], "profiles": ["interactive"], "tags": {"workload": ["dev", "notebook"]}},
    "exclude": {"tags": {"workload": ["serving"], "keep": ["yes"]}},
}
FACTS = PolicyFacts(
    teams=frozenset({"nlp", "research"}),
    profile="interactive",
    tags={"workload": "dev"},
    account="lab",
    purchase_option="spot",
)


def chosen(facts: PolicyFacts, *specs: dict[str, Any]) -> Choice:
    return choose([selector(f"p{number}", spec) for number, spec in enumerate(specs)], facts)


def test_every_key_of_select_must_fit() -> None:
    assert chosen(FACTS, DEV) == Choice("p0")
    assert chosen(PolicyFacts(teams=FACTS.teams, tags=FACTS.tags), DEV) == Choice(None)


@pytest.mark.parametrize("profile", ["", "batch"])
def test_no_profile_fits_only_policies_that_name_none(profile: str) -> None:
    facts = PolicyFacts(profile=profile)
    assert chosen(facts, {"select": {"profiles": ["interactive"]}}, {"select": {}}) == Choice("p1")


def test_the_first_in_order_wins() -> None:
    assert chosen(FACTS, {"select": {"accounts": ["other"]}}, {}, {}) == Choice("p1")


def test_a_team_covers_the_teams_below_it() -> None:
    assert chosen(FACTS, {"select": {"teams": ["Research"]}}) == Choice("p0")


def test_an_excluded_one_goes_on_to_the_next() -> None:
    facts = PolicyFacts(teams=FACTS.teams, profile="interactive", tags={"workload": "dev", "keep": "yes"})
    assert chosen(facts, DEV, {}) == Choice("p1")
    assert chosen(facts, DEV) == Choice(None, "p0", "keep=yes")


@pytest.mark.parametrize(
    ("key", "value"),
    [("accounts", ["lab"]), ("purchase_options", ["spot"]), ("teams", ["nlp"]), ("profiles", ["interactive"])],
)
def test_any_key_of_exclude_is_enough(key: str, value: list[str]) -> None:
    assert chosen(FACTS, {"exclude": {key: value, "tags": {"no": ["such"]}}}) == Choice(None, "p0", key)


def test_an_exclude_that_names_nothing_excludes_nothing() -> None:
    assert chosen(FACTS, {"exclude": {"teams": [], "tags": {}}}) == Choice("p0")
