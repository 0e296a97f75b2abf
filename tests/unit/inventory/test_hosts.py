"""Hosts to instances, over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.domain.hosts import EARLY, HostBook, Life, Stay, first_label


def at(hour: float) -> datetime:
    return datetime(2025, 6, 2, tzinfo=UTC) + timedelta(hours=hour)


def book(*lives: Life, hosts: tuple[str, ...] = ("node-1",)) -> HostBook:
    return HostBook(lives, hosts)


def test_an_exact_name_wins() -> None:
    lives = book(Life(1, "node-1", None, None), Life(2, "node-1.lab", None, None), hosts=("node-1", "node-1.lab"))
    assert [lives.stays(host, at(0), None) for host in ("node-1", "node-1.lab")] == [
        [Stay(at(0), None, 1)],
        [Stay(at(0), None, 2)],
    ]


@pytest.mark.parametrize(("told", "declared"), [("node-1", "node-1.lab.example"), ("node-1.lab.example", "node-1")])
def test_a_first_label_that_is_unique_will_do(told: str, declared: str) -> None:
    assert book(Life(1, declared, None, None), hosts=(told, "node-2")).stays(told, at(0), None) == [
        Stay(at(0), None, 1)
    ]


def test_a_first_label_that_stands_for_two_is_nobody() -> None:
    two_instances = book(Life(1, "node-1.a", None, None), Life(2, "node-1.b", None, None), hosts=("node-1",))
    assert two_instances.stays("node-1", at(0), None) == [Stay(at(0), None, None)]
    two_hosts = book(Life(1, "node-1", None, None), hosts=("node-1.a", "node-1.b"))
    assert two_hosts.stays("node-1.a", at(0), None) == [Stay(at(0), None, None)]


def test_addresses_have_no_labels() -> None:
    assert [first_label(host) for host in ("10.0.0.1", "fe80::1", "node-1.lab")] == ["10.0.0.1", "fe80::1", "node-1"]
    assert book(Life(1, "10.0.0.2", None, None), hosts=("10.0.0.1",)).stays("10.0.0.1", at(0), None) == [
        Stay(at(0), None, None)
    ]


def test_a_host_that_was_relaunched_is_cut() -> None:
    lives = book(Life(1, "node-1", at(1), at(10)), Life(2, "node-1", at(12), None))
    assert lives.stays("node-1", at(2), None) == [
        Stay(at(2), at(10), 1),
        Stay(at(10), at(12) - EARLY, None),
        Stay(at(12) - EARLY, None, 2),
    ]


def test_points_just_before_a_launch_are_the_clocks_fault() -> None:
    assert book(Life(1, "node-1", at(1), None)).stays("node-1", at(1) - EARLY, None) == [Stay(at(1) - EARLY, None, 1)]
    follows = book(Life(1, "node-1", at(1), at(9.9)), Life(2, "node-1", at(10), None))
    assert follows.stays("node-1", at(5), None) == [Stay(at(5), at(9.9), 1), Stay(at(9.9), None, 2)]


def test_where_two_claim_a_host_the_last_launched_has_it() -> None:
    lives = book(Life(1, "node-1", at(1), None), Life(2, "node-1", at(5), at(8)))
    assert lives.stays("node-1", at(2), None) == [
        Stay(at(2), at(5) - EARLY, 1),
        Stay(at(5) - EARLY, at(8), 2),
        Stay(at(8), None, 1),
    ]


_LIVES = st.lists(
    st.tuples(st.none() | st.integers(0, 50), st.none() | st.integers(0, 50)).map(
        lambda bounds: bounds if None in bounds else tuple(sorted(bounds))  # type: ignore[type-var]
    ),
    max_size=4,
)


@given(_LIVES, st.integers(0, 20), st.none() | st.integers(21, 60))
def test_stays_cover_the_time_without_gap(
    lives: list[tuple[int | None, int | None]], start: int, end: int | None
) -> None:
    known = [
        Life(number, "node-1", None if first is None else at(first), None if last is None else at(last))
        for number, (first, last) in enumerate(lives)
    ]
    until = None if end is None else at(end)
    stays = book(*known).stays("node-1", at(start), until)
    assert stays[0].start == at(start)
    assert stays[-1].end == until
    for before, after in pairwise(stays):
        assert before.end == after.start
        assert before.instance_id != after.instance_id
    for stay in stays:
        owners = {
            life.instance_id
            for life in known
            if (life.start is None or life.start - EARLY <= stay.start) and (life.end is None or stay.start < life.end)
        }
        assert stay.instance_id in owners or (
            stay.instance_id is None
            and not any(life.start is None or life.start <= stay.start for life in known if life.instance_id in owners)
        )
