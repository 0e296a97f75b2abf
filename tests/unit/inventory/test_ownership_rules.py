"""The first rule that yields a team wins."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.domain.ownership import Facts, Match, team_name

RULES: list[dict[str, Any]] = [
    {"team": "nlp", "match": {"namespace": ["nlp-*"]}},
    {"team_from": {"tag": "team"}},
    {"team_from": {"label": "namespace"}, "strip_prefix": "team-"},
]
KNOWN = {"nlp", "vision"}


@pytest.mark.parametrize(
    ("facts", "match"),
    [
        (Facts(namespace="nlp-train", tags={"team": "vision"}), Match("nlp", 0)),
        (Facts(namespace="NLP-Train"), Match("nlp", 0)),
        (Facts(tags={"team": "Vision"}), Match("Vision", 1)),
        (Facts(tags={"Team": "vision"}), Match("vision", 1)),
        (Facts(tags={"team": " vision "}), Match("vision", 1)),
        (Facts(namespace="team-vision"), Match("vision", 2)),
        (Facts(namespace="TEAM-vision"), Match("vision", 2)),
        (Facts(namespace="vision"), Match("vision", 2)),
        (Facts(tags={"team": "nobody"}), None),
        (Facts(tags={"team": "nobody"}, namespace="vision"), Match("vision", 2)),
        (Facts(tags={"team": ""}), None),
        (Facts(), None),
    ],
)
def test_rules_in_order(facts: Facts, match: Match | None) -> None:
    assert team_name(RULES, facts, KNOWN) == match


@pytest.mark.parametrize(
    ("wanted", "facts", "fits"),
    [
        ({}, Facts(), True),
        ({"host": ["node-?"]}, Facts(host="node-1"), True),
        ({"host": ["node-?"]}, Facts(host="node-12"), False),
        ({"host": ["a*", "n*"]}, Facts(host="node-1"), True),
        ({"host": ["*"]}, Facts(), False),  # unknown fits nothing
        ({"host": ["node.1"]}, Facts(host="node-1"), False),  # a glob, no regular expression
        ({"host": ["(a+)+$"]}, Facts(host="a" * 60), False),
        ({"label": {"app": ["train*"]}}, Facts(labels={"app": "trainer"}), True),
        ({"label": {"app": ["train*"], "tier": ["gold"]}}, Facts(labels={"app": "trainer"}), False),
        ({"tag": {"env": ["prod"]}}, Facts(tags={"env": "Prod"}), True),
        ({"account": ["lab"], "provider": ["aws"]}, Facts(account="lab", provider="gcp"), False),
        ({"job_owner": ["dev@*"], "sku": ["p5.*"]}, Facts(job_owner="dev@example.com", sku="p5.48xlarge"), True),
        ({"sub_account": ["ml-[12]"]}, Facts(sub_account="ml-2"), True),
    ],
)
def test_match(wanted: dict[str, object], facts: Facts, fits: bool) -> None:
    assert (team_name([{"team": "x", "match": wanted}], facts) is not None) is fits


def test_a_rule_set_that_assigns_nothing() -> None:
    assert team_name([{}], Facts(namespace="nlp")) is None


def test_a_nasty_glob_ends_soon() -> None:
    assert team_name([{"team": "x", "match": {"host": ["*a" * 40 + "b"]}}], Facts(host="a" * 300)) is None
