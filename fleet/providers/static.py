"""Accounts of kind `static`: the instances stand in the account's own declaration."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from common.periods import parse_moment
from fleet.domain.inventory import ObservedInstance, ProviderState

ATTRIBUTES = (
    "region", "zone", "sku", "gpu_model", "gpu_count", "purchase_option", "profile", "local_disk", "disks", "protected",
    "group", "owner", "sub_account", "tags", "labels",
)  # fmt: skip
FOR_EVER = datetime.max.replace(tzinfo=UTC)


class StaticProvider:
    """Lists what `fleet.yaml` lists."""

    def list_instances(self, provider: str, spec: Mapping[str, Any], *, now: datetime) -> list[ObservedInstance]:
        """Give every declared instance; ``now`` says which entries of a history have come to pass."""
        return [_observed(provider, entry, now) for entry in spec.get("instances") or []]

    def same_until(self, spec: Mapping[str, Any], *, now: datetime) -> datetime | None:
        """Give the next moment that a history or a dated change names; for ever when there is none."""
        entries = spec.get("instances") or []
        named = [one["at"] for entry in entries for one in entry.get("history") or []]
        named += [entry["valid_from"] for entry in entries if entry.get("valid_from")]
        return min((at for at in map(parse_moment, named) if at > now), default=FOR_EVER)


def _observed(provider: str, entry: Mapping[str, Any], now: datetime) -> ObservedInstance:
    """Read one declared instance."""
    history = sorted((parse_moment(one["at"]), ProviderState(one["state"])) for one in entry.get("history") or [])
    past = [state for at, state in history if at <= now]
    state = past[-1] if past else ProviderState(entry.get("state") or (history[0][1] if history else "running"))
    host = (entry.get("host") or entry["id"]).lower()
    attributes = {"provider": provider, "host": host} | {key: entry[key] for key in ATTRIBUTES if key in entry}
    price = entry.get("price_per_hour")
    return ObservedInstance(
        external_id=entry["id"],
        host=host,
        state=state,
        launched_at=_moment(entry, "launched_at"),
        last_started_at=_moment(entry, "last_started_at"),
        stopped_at=_moment(entry, "stopped_at"),
        attributes=attributes,
        price_per_hour=None if price is None else Decimal(price),
        currency=entry.get("currency") or "",
        history=tuple(history),
        change_from=_moment(entry, "valid_from"),
    )


def _moment(entry: Mapping[str, Any], key: str) -> datetime | None:
    """Give a moment of the entry, if it says one."""
    return parse_moment(entry[key]) if entry.get(key) else None
