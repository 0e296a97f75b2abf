"""The first route that fits takes the message."""

from __future__ import annotations

import pytest

from alerts.domain.routing import RouteRule, first_match, route_rule

NLP = route_rule({"teams": ["NLP"], "kinds": ["idle", "budget"]}, ["slack"], ["mail"])
PARENT = route_rule({"teams": ["research"]}, ["research"])
XID = route_rule({"kinds": ["xid"]}, ["ops"])
REST = route_rule({}, ["mail"])
ROUTES = [NLP, PARENT, XID, REST]


@pytest.mark.parametrize(
    ("kind", "lineage", "route"),
    [
        ("idle", ("nlp", "research"), NLP),
        ("suspected_hang", ("nlp", "research"), PARENT),
        ("idle", ("vision", "research"), PARENT),
        ("idle", (), REST),
        ("idle", ("sales",), REST),
        ("xid", ("nlp", "research"), XID),
        ("unpriced", ("nlp", "research"), None),
        ("unassigned", (), None),
        ("channel", (), REST),
    ],
)
def test_who_takes_it(kind: str, lineage: tuple[str, ...], route: RouteRule | None) -> None:
    assert first_match(ROUTES, kind, lineage) is route


def test_no_routes() -> None:
    assert first_match([], "idle", ()) is None
