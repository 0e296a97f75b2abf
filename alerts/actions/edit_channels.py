"""Channels and routes by hand, and a test message over a channel. Those of fleet.yaml are changed there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from alerts.actions.channels import mend_channels
from alerts.models import Channel, Delivery, Message, Route
from alerts.queries.adapters import adapter
from common.declared import Spec
from common.errors import BadInput, Refused
from people.actions.audit import record

TOPIC = "test"


@transaction.atomic
def save_channel(spec: Spec, *, now: datetime, by: str) -> None:
    """Keep a channel, or change the one of that name; a broken one is tried again.

    Raises BadInput when it can't work as it is (no secret, no mail server), Refused (managed_by_file).
    """
    row = Channel.objects.select_for_update().filter(name=spec["name"]).first() or Channel(name=spec["name"])
    if row.declared is not None:
        raise managed()
    row.kind, row.spec = spec["kind"], {key: value for key, value in spec.items() if key not in ("name", "kind")}
    adapter(row).check()
    row.save()
    mend_channels([row.name], now=now, by=by)
    record(now=now, by=by, action="save_channel", subject_kind="channel", subject=row.name, kind=row.kind)


@transaction.atomic
def send_test(name: str, *, now: datetime, by: str) -> None:
    """Write a test message to every address of a channel, else to who asks. Raises BadInput (unknown_channel)."""
    row = Channel.objects.filter(name=name).first()
    if row is None:
        raise BadInput("unknown_channel", f"There is no channel {name!r}.", hint="Load the page again.")
    addresses = adapter(row).addresses()
    message = Message.objects.create(kind=TOPIC, topic=TOPIC, subject=row.name, created_at=now, facts={"by": by})
    Delivery.objects.bulk_create(
        Delivery(message=message, channel=row, to=to, first_due=now, due_at=now)
        for to in dict.fromkeys([by] if addresses is None else addresses)
    )
    record(now=now, by=by, action="test_channel", subject_kind="channel", subject=row.name)


@transaction.atomic
def add_route(spec: Spec, *, now: datetime, by: str) -> None:
    """Put a route before the others. Raises BadInput (unknown_channel), Refused (managed_by_file)."""
    rows = _own_routes()
    known = set(Channel.objects.values_list("name", flat=True))
    named = [*spec["channels"], *(spec.get("fallback") or [])]
    if unknown := [name for name in named if name not in known]:
        raise BadInput("unknown_channel", f"There is no channel {unknown[0]!r}.", hint="Take one from the list.")
    new = Route(match=spec.get("match") or {}, channels=spec["channels"], fallback=spec.get("fallback") or [])
    _renumber([new, *rows])
    record(now=now, by=by, action="change_routes", subject_kind="route", subject="routes", added=dict(spec))


@transaction.atomic
def remove_route(position: int, *, now: datetime, by: str) -> None:
    """Take a route away. Raises BadInput (unknown_route), Refused (managed_by_file)."""
    rows = _own_routes()
    kept = [row for row in rows if row.position != position]
    if len(kept) == len(rows):
        raise BadInput("unknown_route", "This route is not there any more.", hint="Load the page again.")
    _renumber(kept)
    record(now=now, by=by, action="change_routes", subject_kind="route", subject="routes", removed=position + 1)


def _own_routes() -> list[Route]:
    rows = list(Route.objects.select_for_update().order_by("position"))
    if any(row.declared is not None for row in rows):
        raise managed()
    return rows


def _renumber(rows: Sequence[Route]) -> None:
    Route.objects.all().delete()
    Route.objects.bulk_create(
        Route(position=position, match=row.match, channels=row.channels, fallback=row.fallback)
        for position, row in enumerate(rows)
    )


def managed() -> Refused:
    """Say that the file has the word."""
    return Refused("managed_by_file", "fleet.yaml manages this.", hint="Change the file and apply it again.")
