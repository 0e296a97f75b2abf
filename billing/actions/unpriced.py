"""The finding `unpriced`: instances that run and whose price nobody knows. Their cost is unknown, not nothing."""

from __future__ import annotations

from datetime import datetime

from billing.queries.prices import Prices
from common.periods import BEGINNING, Period
from fleet.actions.findings import sync_findings
from fleet.domain.findings import Found
from fleet.domain.states import FindingKind
from fleet.queries.inventory import InstanceAt, running_instances
from fleet.queries.ownership import Resolver, resolver_for


def sync_unpriced(*, now: datetime) -> int:
    """Open and close the finding; give how many running instances have no price at ``now``."""
    running = running_instances(now)
    prices = Prices([one.id for one in running])
    priced = prices.prices([one.id for one in running], now)
    without = [one for one in running if one.id not in priced]
    owners = resolver_for(Period(now, now), [one.id for one in without])
    sync_findings(FindingKind.UNPRICED, [_found(one, prices, owners, now) for one in without], now=now)
    return len(without)


def _found(one: InstanceAt, prices: Prices, owners: Resolver, now: datetime) -> Found:
    """Say since when it runs without a price, and what a price would be looked up by."""
    spans = prices.segments(one.id, now, None)
    ended_at = spans[0].start if spans and spans[0].start > BEGINNING else None
    since = max((at for at in (ended_at, one.started_at) if at is not None), default=now)
    owned = owners.owned(one.id, None, now)
    subject = prices.subject_at(one.id, now)
    evidence = {
        "provider": subject.provider,
        "sku": subject.sku,
        "gpu_model": subject.gpu_model,
        "gpu_count": subject.gpu_count,
        "region": subject.region,
        "purchase_option": subject.purchase_option,
    }
    return Found(
        FindingKind.UNPRICED, "instance", one.id, one.external_id, since, evidence, instance_id=one.id,
        account=one.account or "", team_id=owned.team_id, owner=owned.owner,
    )  # fmt: skip
