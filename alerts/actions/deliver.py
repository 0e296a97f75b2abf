"""Send what is due: claim, send outside any transaction, record. One pass; `config` decides when there is one."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog
from django.db import connection

from alerts.actions.channels import note_failure
from alerts.actions.claims import Claim, claim_next, expire, record
from alerts.actions.render import render_message
from alerts.domain.pace import STILL, Pace
from alerts.domain.ports import Accepted, Channel, ChannelError, Ids, Rendered
from alerts.models import Channel as ChannelRow
from alerts.models import Delivery
from alerts.queries.adapters import adapter, is_test
from alerts.queries.documents import DELIVERED
from alerts.queries.outbox import CLAIM_LIVES, due_channels, waiting
from common.effects import Effects
from common.errors import FleetledgerError

log = structlog.get_logger(__name__)

WORKERS = 8
"""Channels that are served at the same time: one that hangs costs a worker, not the others."""

MOST_PER_CHANNEL = 100
"""Sends per channel and pass: a backlog comes out as a queue, not as a storm."""


@dataclass
class DeliverResult:
    """What a pass did. ``messages``: those that reached somebody for the first time; the rest counts deliveries."""

    messages: int = 0
    sent: int = 0
    simulated: int = 0
    failed: int = 0
    retried: int = 0
    dead: int = 0


@dataclass
class _Round:
    """A pass on its way: channels to serve, sends in flight, sends done per channel."""

    now: datetime
    pace: Pace
    pool: ThreadPoolExecutor
    ready: deque[ChannelRow]
    busy: dict[Future[Any], tuple[ChannelRow, Claim | None]] = field(default_factory=dict)
    done: Counter[int] = field(default_factory=Counter)
    delivered: set[int] = field(default_factory=set)

    @property
    def at(self) -> datetime:
        return self.pace.at(self.now)


def deliver(*, now: datetime, effects: Effects, pace: Pace = STILL) -> DeliverResult:
    """Send or simulate what is due at ``now``. Outside failures are rows (attempts), never errors of this function.

    ``pace`` says how time passes: live passes hand in a running one, so that a pause that a channel asked for counts
    from its answer, and a channel that wants a second between messages gets it.
    """
    result = DeliverResult()
    if not waiting().filter(due_at__lte=now).exists():
        return result
    result.dead = expire(now=now)
    told = set(_simulate(now, effects, result))
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="deliver") as pool:
        leaving = (channel for channel in due_channels(now) if effects.leaves(is_test(channel)))
        told |= _serve(_Round(now, pace, pool, deque(leaving)), result)
    result.messages = _first_time(told, now)
    return result


def _simulate(now: datetime, effects: Effects, result: DeliverResult) -> list[int]:
    """Mark what may not leave as simulated: delivered now, as far as everything else is concerned."""
    held = [channel.pk for channel in ChannelRow.objects.all() if not effects.leaves(is_test(channel))]
    if not held:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            """WITH marked AS (
                UPDATE alerts_delivery SET state = 'simulated', delivered_at = %(now)s, tries = tries + 1, claim = NULL
                WHERE state = 'waiting' AND due_at <= %(now)s AND channel_id = ANY(%(held)s)
                    AND (claim IS NULL OR claimed_at <= %(dead)s)
                RETURNING id, message_id
            ), noted AS (
                INSERT INTO alerts_attempt (delivery_id, at, outcome, detail)
                SELECT id, %(now)s, 'simulated', '' FROM marked
            )
            SELECT message_id FROM marked""",
            {"now": now, "held": held, "dead": now - CLAIM_LIVES},
        )
        messages = [pk for (pk,) in cursor.fetchall()]
    result.simulated = len(messages)
    return messages


def _serve(one: _Round, result: DeliverResult) -> set[int]:
    """Serve every channel, one send at a time each, until nothing is due; give the messages that were accepted."""
    while one.ready or one.busy:
        while one.ready and len(one.busy) < WORKERS and not one.pace.is_over:
            _begin(one, one.ready.popleft())
        if not one.busy:
            break
        for future in wait(one.busy, return_when=FIRST_COMPLETED).done:
            _end(one, future, result)
    return one.delivered


def _begin(one: _Round, row: ChannelRow) -> None:
    try:
        channel = adapter(row)
    except FleetledgerError as error:
        log.warning("channel_unusable", channel=row.name, code=error.code)
        note_failure(row.pk, retry_after=None, now=one.at)
        return
    at = one.at
    claim = claim_next(row, seconds_between=channel.seconds_between, at=at)
    if claim is None:
        return
    message = claim.delivery.message
    alerts = list(message.alerts.select_related("team").order_by("pk"))
    ids = Ids(str(message.key), tuple(alert.pk for alert in alerts), given_time=one.pace.given_time)
    words = render_message(message, alerts, to=claim.delivery.to, now=at)
    one.busy[one.pool.submit(_send, channel, words, claim.delivery.to, ids, at)] = (row, claim)


def _send(channel: Channel, words: Rendered, to: str, ids: Ids, at: datetime) -> Accepted | ChannelError:
    """Send, in a thread without a database."""
    try:
        return channel.send(words, to, ids, at)
    except ChannelError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a defect of ours; its text could hold an address or a secret
        log.error("channel_defect", error=type(error).__name__)
        return ChannelError("defect", unknown=True, about="message")


def _end(one: _Round, future: Future[Any], result: DeliverResult) -> None:
    row, claim = one.busy.pop(future)
    if claim is None:  # it has rested
        one.ready.append(row)
        return
    outcome = future.result()
    goes_on = record(claim, outcome, at=one.at)
    _count(outcome, claim, one, result)
    one.done[row.pk] += 1
    if not goes_on or one.done[row.pk] >= MOST_PER_CHANNEL:
        return
    rest = adapter(row).seconds_between
    if not rest:
        one.ready.append(row)
    elif one.pace.sleep is not None:
        one.busy[one.pool.submit(one.pace.sleep, rest)] = (row, None)


def _count(outcome: Accepted | ChannelError, claim: Claim, one: _Round, result: DeliverResult) -> None:
    if isinstance(outcome, Accepted):
        result.sent += 1
        one.delivered.add(claim.delivery.message_id)
    elif outcome.permanent:
        result.failed += 1
    else:
        result.retried += 1


def _first_time(messages: Iterable[int], now: datetime) -> int:
    """Count the messages that nobody had got before this pass."""
    told = set(messages)
    earlier = Delivery.objects.filter(message__in=told, state__in=DELIVERED, delivered_at__lt=now)
    return len(told) - len(set(earlier.values_list("message", flat=True)))
