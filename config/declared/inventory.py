"""Declare accounts and read the inventory of those that changed: instances, prices, the GPUs that stand in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from billing.actions.instance_prices import record_observed
from common.declared import Change
from fleet.actions.declare_accounts import declare_accounts
from fleet.actions.inventory import sync_account
from fleet.actions.placements import join_hosts


def declare_inventory(accounts: Sequence[Mapping[str, Any]], *, now: datetime, prune: bool) -> list[Change]:
    """Declare, sync what changed, and join telemetry's hosts to it."""
    done = declare_accounts(accounts, now=now, prune=prune)
    for account_id in done.to_sync:
        record_observed(sync_account(account_id, now=now), now=now)
    if done.to_sync:
        join_hosts(now=now)
    return done.changes
