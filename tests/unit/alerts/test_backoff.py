"""When a delivery is tried again, and when it is given up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.domain.backoff import LIFE, next_try, pause_of_channel, read_retry_after, wait_after

NOW = datetime(2025, 6, 3, 10, tzinfo=UTC)


def test_waits_grow_and_then_stay() -> None:
    waits = [wait_after(tries).total_seconds() for tries in range(1, 9)]
    assert waits == [30, 60, 120, 300, 900, 1800, 1800, 1800]


def test_a_day_of_tries_then_nothing() -> None:
    now, tries = NOW, 0
    while True:
        tries += 1
        due = next_try(tries=tries, first_due=NOW, now=now)
        if due is None:
            break
        now = due
    assert NOW + LIFE - timedelta(minutes=30) <= now < NOW + LIFE
    assert tries == 53


@given(st.integers(1, 100), st.floats(0, 80_000))
def test_never_sooner_than_asked(tries: int, seconds: float) -> None:
    due = next_try(tries=tries, first_due=NOW, now=NOW, retry_after=seconds)
    assert due is not None
    assert due >= NOW + timedelta(seconds=max(seconds, 1))


def test_asked_to_wait_longer_than_a_life() -> None:
    assert next_try(tries=1, first_due=NOW, now=NOW, retry_after=10**9) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30.0), (" 1.5 ", 1.5), ("0", 0.0), ("Tue, 03 Jun 2025 10:02:00 GMT", 120.0),
        ("Tue, 03 Jun 2025 09:00:00 GMT", 0.0), ("999999999999", 86400.0), ("soon", None), ("-5", None), ("", None),
        (None, None), ("nan", None), ("1e999", 86400.0),
    ],
)  # fmt: skip
def test_retry_after(text: str | None, seconds: float | None) -> None:
    assert read_retry_after(text, now=NOW) == seconds


def test_a_failing_channel_rests_longer_the_longer_it_fails() -> None:
    def rest(minutes: int) -> float:
        since = NOW - timedelta(minutes=minutes)
        return pause_of_channel(failing_since=since, now=NOW, retry_after=None).total_seconds()

    assert [rest(minutes) for minutes in (0, 1, 4, 20, 600)] == [30, 30, 120, 600, 900]
    assert pause_of_channel(failing_since=None, now=NOW, retry_after=45).total_seconds() == 45
