"""Declare channels and routes."""

from __future__ import annotations

from collections.abc import Sequence

from alerts.models import Channel, Route
from alerts.models.delivery import DeliveryState
from common.declared import Change, Spec, Verb, declare_rows, settle_leftovers

REMOVED = "removed from fleet.yaml"


def declare_channels(wanted: Sequence[Spec], *, prune: bool) -> list[Change]:
    """Create and change channels; one with deliveries is shut instead of deleted (`mend_channels` opens it)."""
    rows = {row.name: row for row in Channel.objects.all()}

    def fill(row: Channel, spec: Spec) -> None:
        row.name, row.kind = spec["name"], spec["kind"]
        row.spec = {key: value for key, value in spec.items() if key not in ("name", "kind")}

    def remove(row: Channel) -> None:
        if not row.deliveries.exists():
            row.delete()
            return
        row.declared, row.broken_reason = None, REMOVED
        row.broken_at = row.deliveries.latest("due_at").due_at
        row.save()
        row.deliveries.filter(state=DeliveryState.WAITING).update(state=DeliveryState.FAILED)

    names = [(spec["name"], spec) for spec in wanted]
    changes = declare_rows(
        "channel",
        rows,
        names,
        make=lambda name: Channel(name=name),
        fill=fill,
        current=lambda row: {"name": row.name, "kind": row.kind, **row.spec},
    )
    return [*changes, *settle_leftovers("channel", rows, dict(names), prune=prune, remove=remove)]


def declare_routes(wanted: Sequence[Spec]) -> list[Change]:
    """Make the routes exactly ``wanted``, in order; they are one thing, since their order is what they mean."""
    rows = list(Route.objects.order_by("position"))
    new = [_form(spec) for spec in wanted]
    old = [_form({"match": row.match, "channels": row.channels, "fallback": row.fallback}) for row in rows]
    if new == old:
        return [Change(Verb.UNCHANGED, "routes", "routes")] if rows else []
    Route.objects.all().delete()
    Route.objects.bulk_create(Route(position=position, declared=form, **form) for position, form in enumerate(new))
    return [Change(Verb.CHANGED if rows else Verb.CREATED, "routes", "routes", ("routes",) if rows else ())]


def _form(spec: Spec) -> dict[str, object]:
    """Give a route with every key."""
    return {"match": spec.get("match") or {}, "channels": spec["channels"], "fallback": spec.get("fallback") or []}
