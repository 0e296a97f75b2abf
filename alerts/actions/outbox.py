"""Fill the outbox: a message per alert, a delivery per channel and address. Sending is `deliver`'s work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from alerts.domain.routing import RouteRule, first_match, route_rule
from alerts.models import Alert, Channel, Delivery, Message, Route
from alerts.models.delivery import DeliveryState
from alerts.queries.adapters import adapter
from common.errors import FleetledgerError
from people.queries import recipients, team_lineages

Reader = tuple[str, int | None]
"""Whom a message is for: the owner's address (or nothing) and the team."""


def declared_routes() -> list[RouteRule]:
    """Read the routes in their order."""
    return [route_rule(route.match, route.channels, route.fallback) for route in Route.objects.order_by("position")]


def routed(alerts: Sequence[Alert]) -> list[tuple[Alert, list[str], list[str]]]:
    """Give the alerts that a route takes, each with the names of the channels and of the fallback."""
    routes = declared_routes() if alerts else []
    lineages = team_lineages({alert.team_id for alert in alerts if alert.team_id}) if routes else {}
    found = []
    for alert in alerts:
        route = first_match(routes, alert.kind, lineages.get(alert.team_id or 0, ()))
        if route is not None:
            found.append((alert, _ways(alert, route.channels), _ways(alert, route.fallback)))
    return found


def write_messages(alerts: Sequence[Alert], *, now: datetime) -> int:
    """Write a message for each alert that a route takes, and its deliveries; give the number of messages."""
    wanted = routed(alerts)
    messages = [_message(alert, "alert", fallback, now) for alert, _, fallback in wanted]
    _save(messages, [alert for alert, _, _ in wanted])
    write_deliveries([(message, names) for message, (_, names, _) in zip(messages, wanted, strict=True)], now=now)
    return len(messages)


def _ways(alert: Alert, names: Sequence[str]) -> list[str]:
    """Leave out the channel that an alert is about: it can't tell of its own failure."""
    return [name for name in names if not (alert.kind == "channel" and name == alert.subject)]


def write_resolved(alerts: Sequence[Alert], *, now: datetime) -> int:
    """Tell the end to every address that was told the beginning; give the number of messages."""
    told = (
        Delivery.objects.filter(message__alerts__in=alerts, message__kind="alert")
        .exclude(state__in=(DeliveryState.FAILED, DeliveryState.DEAD))
        .order_by("pk")
        .values_list("message__alerts", "channel_id", "to")
    )
    addresses: dict[int, list[tuple[int, str]]] = {}
    for alert_id, channel_id, to in told:
        addresses.setdefault(alert_id, []).append((channel_id, to))
    heard = [alert for alert in alerts if alert.pk in addresses]
    messages = [_message(alert, "resolved", (), now) for alert in heard]
    _save(messages, heard)
    Delivery.objects.bulk_create(
        Delivery(message=message, channel_id=channel_id, to=to, first_due=now, due_at=now)
        for message, alert in zip(messages, heard, strict=True)
        for channel_id, to in addresses[alert.pk]
    )
    return len(messages)


def _message(alert: Alert, kind: str, fallback: Sequence[str], now: datetime) -> Message:
    return Message(
        kind=kind, topic=alert.kind, subject=alert.subject, team_id=alert.team_id, owner=alert.owner, created_at=now,
        facts=alert.facts, fallback=list(fallback),
    )  # fmt: skip


def _save(messages: Sequence[Message], alerts: Sequence[Alert]) -> None:
    Message.objects.bulk_create(messages)
    link = Message.alerts.through
    link.objects.bulk_create(
        link(message_id=message.pk, alert_id=alert.pk) for message, alert in zip(messages, alerts, strict=True)
    )


def write_deliveries(
    messages: Iterable[tuple[Message, Sequence[str]]], *, now: datetime, is_fallback: bool = False
) -> list[Delivery]:
    """Write the deliveries of each message over the channels named beside it; give those that are new.

    A broken channel gets a failed one at once, so that the log shows it, and the message's fallback is told instead.
    """
    wanted = list(messages)
    if not wanted:
        return []
    channels = {channel.name: channel for channel in Channel.objects.all()}
    readers = recipients({_reader(message) for message, _ in wanted})
    rows, fallen = [], []
    for message, names in wanted:
        reached = False
        for channel in (channels[name] for name in names if name in channels):
            for to in _addresses(channel, readers[_reader(message)]):
                rows.append(_delivery(message, channel, to, now, is_fallback=is_fallback))
                reached = reached or not channel.broken_at
        broken = any(channels[name].broken_at for name in names if name in channels)
        if message.fallback and not is_fallback and (broken or not reached):
            fallen.append(message)
    keys = [(row.message_id, row.channel_id, row.to) for row in rows]
    known = set(
        Delivery.objects.filter(message__in={row.message_id for row in rows}).values_list(
            "message_id", "channel_id", "to"
        )
    )
    new = [row for row, key in zip(rows, keys, strict=True) if key not in known]
    Delivery.objects.bulk_create(new, ignore_conflicts=True)
    if fallen:
        write_deliveries([(message, message.fallback) for message in fallen], now=now, is_fallback=True)
    return new


def _reader(message: Message) -> Reader:
    return (message.owner, message.team_id)


def _addresses(channel: Channel, readers: Sequence[str]) -> list[str]:
    """Give the addresses of one channel; a channel that can't be built is left to `doctor` and the log."""
    declared = _declared(channel)
    return list(dict.fromkeys(readers if declared is None else declared))


def _declared(channel: Channel) -> Sequence[str] | None:
    """Give the addresses that the channel names itself; None: it asks for the readers'."""
    try:
        return adapter(channel).addresses()
    except FleetledgerError:
        return []


def _delivery(message: Message, channel: Channel, to: str, now: datetime, *, is_fallback: bool) -> Delivery:
    state = DeliveryState.FAILED if channel.broken_at else DeliveryState.WAITING
    return Delivery(
        message=message, channel=channel, to=to, first_due=now, due_at=now, is_fallback=is_fallback, state=state,
    )  # fmt: skip


def tell_fallback(message: Message, *, now: datetime) -> int:
    """A delivery of ``message`` came to nothing: its fallback is told, once; give the number of new deliveries."""
    return len(write_deliveries([(message, message.fallback)], now=now, is_fallback=True)) if message.fallback else 0


def tell_next_readers(delivery: Delivery, *, now: datetime) -> int:
    """An address was refused and no fallback is there: tell the leads of the team, else the admins, over its channel.

    Only while nobody else has the message or is about to, and not where the channel itself says whom it tells; an end
    is for those who were told the beginning. Give the number of new deliveries.
    """
    message, channel = delivery.message, delivery.channel
    reached = (DeliveryState.WAITING, DeliveryState.SENT, DeliveryState.SIMULATED)
    written = Delivery.objects.filter(message=message)
    if message.kind == "resolved" or written.filter(state__in=reached).exists() or _declared(channel) is not None:
        return 0
    refused = set(written.values_list("to", flat=True))
    for reader in (("", message.team_id), ("", None)):
        new = [to for to in recipients({reader})[reader] if to not in refused]
        if new:
            rows = [_delivery(message, channel, to, now, is_fallback=True) for to in new]
            return len(Delivery.objects.bulk_create(rows, ignore_conflicts=True))
    return 0


def tell_others(alert: Alert, *, now: datetime) -> int:
    """Tell an alert about a channel over every channel that shares a route with it; give the number of messages."""
    names: dict[str, None] = {}
    for route in Route.objects.order_by("position"):
        both = [*route.channels, *route.fallback]
        if alert.subject in both:
            names.update(dict.fromkeys(_ways(alert, both)))
    if not names:
        return 0
    message = _message(alert, "alert", (), now)
    _save([message], [alert])
    write_deliveries([(message, list(names))], now=now)
    return 1
