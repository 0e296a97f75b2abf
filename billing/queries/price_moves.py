"""What a change of declared prices moves in the time before now: whose hours, what they cost and will have cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db import connection

from billing.domain.prices import Hourly, Listed, fits, in_force_at
from billing.queries.prices import Prices


@dataclass(frozen=True)
class PastChange:
    """A declared price (``number`` in its file) that says something else of [start, end), all of it past."""

    number: int
    name: str
    start: datetime
    end: datetime


@dataclass
class PastMove:
    """What a past change moves. ``before``, ``after``: provisional money by currency.

    ``newly_priced_ms``: GPU time that had no price and gets one, whose money is not in ``after``.
    """

    change: PastChange
    instances: set[int] = field(default_factory=set)
    before: dict[str, Decimal] = field(default_factory=dict)
    after: dict[str, Decimal] = field(default_factory=dict)
    newly_priced_ms: int = 0


@dataclass(frozen=True)
class _Stretch:
    """A time in which the price of an instance was ``old`` and becomes ``new``, because of ``change``."""

    change: PastChange
    instance: int
    start: datetime
    end: datetime
    old: Hourly | None
    new: Hourly | None


def past_moves(changes: Sequence[tuple[PastChange, Listed]], before: Sequence[Listed]) -> list[PastMove]:
    """Weigh past changes, each with its price as it is now, against the prices of ``before``.

    What moves nothing is left out. Disks (GB-months) are not weighed.
    """
    hourly = [(change, listed) for change, listed in changes if listed.unit != "gb_month"]
    if not hourly:
        return []
    stretches = list(_stretches(hourly, Prices(listed=before), Prices()))
    moves = {change.number: PastMove(change) for change, _ in hourly}
    for stretch, (cost, unpriced_ms) in zip(stretches, _metered(stretches), strict=True):
        if cost or unpriced_ms:
            _add(moves[stretch.change.number], stretch, cost, unpriced_ms)
    return [move for move in moves.values() if move.instances]


def _stretches(changes: Sequence[tuple[PastChange, Listed]], old: Prices, new: Prices) -> Iterator[_Stretch]:
    """Cut the past where prices of instances differ; what two changes touch counts for the first of them."""
    for instance in new.instances:
        done: set[datetime] = set()
        for change, listed in changes:
            then, now = (one.segments(instance, change.start, change.end) for one in (old, new))
            starts = sorted({max(span.start, change.start) for span in (*then, *now)})
            for start, end in zip(starts, [*starts[1:], change.end], strict=True):
                pair = in_force_at(then, start), in_force_at(now, start)
                if pair[0] != pair[1] and start not in done and fits(listed, new.subject_at(instance, start)):
                    done.add(start)
                    yield _Stretch(change, instance, start, end, *pair)


def _add(move: PastMove, stretch: _Stretch, cost: Decimal, unpriced_ms: int) -> None:
    old, new = stretch.old, stretch.new
    move.instances.add(stretch.instance)
    if old is not None:
        move.before[old.currency] = move.before.get(old.currency, Decimal(0)) + cost
        if new is not None and old.per_hour:
            become = cost * new.per_hour / old.per_hour
            move.after[new.currency] = move.after.get(new.currency, Decimal(0)) + become
    elif new is not None:
        move.newly_priced_ms += unpriced_ms


def _metered(stretches: Sequence[_Stretch]) -> list[tuple[Decimal, int]]:
    """Give, per stretch, what its whole hours cost so far in the old currency, and its time without a price (ms)."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT coalesce(sum(c.working + c.low + c.held + c.empty + c.unknown + c.stopped)
                            FILTER (WHERE c.currency = s.currency), 0),
                   coalesce(sum(c.unpriced_ms), 0)::bigint
            FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[], %s::text[]) WITH ORDINALITY
                AS s (instance, since, until, currency, place)
            LEFT JOIN billing_gpuhourcost c
                ON c.instance_id = s.instance AND c.hour >= s.since AND c.hour < s.until
            GROUP BY s.place ORDER BY s.place
            """,
            [
                [one.instance for one in stretches],
                [one.start for one in stretches],
                [one.end for one in stretches],
                [one.old.currency if one.old else "" for one in stretches],
            ],
        )
        return [(cost, ms) for cost, ms in cursor.fetchall()]
