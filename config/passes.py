"""One pass of the world: what every periodic job does, in the order of a tick.

Each job is level-triggered: it reads the state of the world, moves it on, can run twice or be lost without harm. The
same functions serve beat, `tick` and `replay`; only ``now``, the effects and what drives them differ.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.actions.alerts import raise_alerts, resolve_alerts
from alerts.actions.deliver import deliver as deliver_messages
from alerts.actions.untold import tell_untold
from alerts.domain.occurrence import Occurrence
from alerts.domain.pace import STILL, running
from billing.actions.costs import price_hours
from billing.actions.instance_prices import record_observed
from billing.actions.retain import retain_costs
from billing.actions.unpriced import sync_unpriced
from billing.queries.prices_now import PricesNow
from common.effects import Effects
from common.periods import floor_mark, iso
from fleet.actions.collect import PullResult, backfill_source, collect_source
from fleet.actions.inventory import sync_account
from fleet.actions.judge import judge_fleet
from fleet.actions.meter import meter as meter_hours
from fleet.actions.ownership import refresh_job_teams, refresh_teams
from fleet.actions.placements import join_hosts
from fleet.actions.retain import retain as retain_samples
from fleet.queries.inventory import read_accounts
from fleet.queries.ownership import Resolver
from fleet.queries.sources import is_read_whole, is_unread, metric_sources

FIRST_LOOK = timedelta(hours=3)
"""How far back a source is read at first sight: windows are full, and the page has something to say."""


@dataclass(frozen=True)
class Pass:
    """One run of the world at ``now``. Samples stand on the 5-minute grid, so what reads them works at ``mark``."""

    now: datetime
    effects: Effects
    is_live: bool = False

    @property
    def mark(self) -> datetime:
        """The last 5-minute mark at or before ``now``."""
        return floor_mark(self.now)


def sync_instances(one: Pass) -> int:
    """Read every account's inventory; give the number of instances seen."""
    observed = []
    for account_id, _ in read_accounts():
        observed += sync_account(account_id, now=one.now)
    if observed:
        record_observed(observed, now=one.now)
        join_hosts(now=one.now)
    resolver = Resolver(one.now)
    refresh_teams(now=one.now, resolver=resolver)
    refresh_job_teams(now=one.now, resolver=resolver)
    return len(observed)


def collect(one: Pass) -> int:
    """Pull every metric source that is not complete up to ``now``; give the number of samples written."""
    written = 0
    for source_id in metric_sources():
        if not one.is_live and is_read_whole(source_id, one.mark):
            continue  # back-filled beyond this pass: nothing of it can be new
        if one.is_live and is_unread(source_id):
            backfill_source(source_id, since=one.mark - FIRST_LOOK, until=one.mark, now=one.mark)
        result = collect_source(source_id, now=one.mark, scripted_at=None if one.is_live else one.now)
        written += result.samples
        _tell_source(result, now=one.now)
    return written


def _tell_source(result: PullResult, *, now: datetime) -> None:
    """Tell once that a source fails, and again when it is back."""
    name = result.source
    if result.error is None:
        resolve_alerts(rule="source", subject_kind="source", subjects=[name], now=now)
        return
    facts = {
        "source": name,
        "code": result.error.code,
        "message": result.error.message,
        "hint": result.error.hint,
        "since": iso(now),
        "link": "/",
    }
    raise_alerts(
        [
            Occurrence(
                "source", "source", "source", name, account="", team_id=None, owner="", episode=iso(now), facts=facts
            )
        ],
        now=now,
    )


def judge(one: Pass) -> int:
    """Judge every GPU, job and instance; give the number of verdicts that changed."""
    changed = judge_fleet(now=one.mark, prices=PricesNow()).changed
    tell_untold(now=one.now)
    return changed


def meter(one: Pass) -> int:
    """Meter GPU-hours and their provisional cost; give the number of rows written."""
    hours = meter_hours(now=one.mark)
    price_hours()
    sync_unpriced(now=one.mark)
    return hours.rows_written


def deliver(one: Pass) -> int:
    """Send what is due; give the number of messages sent or simulated."""
    # A live pass keeps a channel's own rhythm (Slack: one message a second) within its eight seconds.
    pace = running(time.monotonic, time.sleep) if one.is_live else STILL  # noqa: TID251
    return deliver_messages(now=one.now, effects=one.effects, pace=pace).messages


def retain(one: Pass) -> int:
    """Make partitions ahead and drop what is past retention; give the number dropped."""
    done = Counter(retain_samples(now=one.now)) + Counter(retain_costs(now=one.now))
    return done.total()


JOBS: Mapping[str, Callable[[Pass], int]] = {
    "sync_instances": sync_instances,
    "collect": collect,
    "judge": judge,
    "meter": meter,
    "deliver": deliver,
    "retain": retain,
}
TICK = ("sync_instances", "collect", "judge", "meter", "deliver", "retain")
"""The order of a tick. Releases, bills and budgets join it where design notes say: step and act after meter."""
