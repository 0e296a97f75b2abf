"""Our own metrics, made from the database at each scrape: the same answer from every process.

Health stands open. What tells something about teams is added only for who holds METRICS_TOKEN.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from django.conf import settings
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from alerts.queries.outbox import deliveries_by_state
from config.broker import bad_messages
from fleet.queries.health import gpus_by_team_and_state, jobs_health, sources_health
from people.queries import is_replaying, teams

STATES = ("warm_up", "working", "held", "empty", "unknown", "stopped")


class _Health(Collector):
    def __init__(self, clock: datetime, *, with_teams: bool) -> None:
        self.clock, self.with_teams = clock, with_teams

    def collect(self) -> Iterator[Metric]:
        """Yield each metric once, labels in full."""
        replaying = GaugeMetricFamily("fleetledger_clock_is_replay", "1 while the database follows replayed time.")
        replaying.add_metric([], float(is_replaying()))
        yield replaying
        yield from self._sources()
        yield from self._jobs()
        deliveries = GaugeMetricFamily("fleetledger_deliveries", "Deliveries by state.", labels=["state"])
        for state, count in deliveries_by_state().items():
            deliveries.add_metric([state], count)
        yield deliveries
        yield from self._broker()
        if self.with_teams:
            yield self._gpus()

    def _sources(self) -> Iterator[Metric]:
        lag = GaugeMetricFamily(
            "fleetledger_source_lag_seconds", "Age of the newest complete answer of a source.", labels=["source"]
        )
        up = GaugeMetricFamily(
            "fleetledger_source_up", "1 when the last pull of a source went well.", labels=["source"]
        )
        for source in sources_health(self.clock):
            if source.age is not None:
                lag.add_metric([source.name], source.age.total_seconds())
            up.add_metric([source.name], float(not source.is_failing and source.age is not None))
        yield lag
        yield up

    def _jobs(self) -> Iterator[Metric]:
        good = GaugeMetricFamily(
            "fleetledger_job_last_success_timestamp_seconds", "When a job last went well.", labels=["job", "shard"]
        )
        failures = GaugeMetricFamily("fleetledger_job_failures", "Failures of a job in a row.", labels=["job", "shard"])
        for run in jobs_health():
            if run.ok_at:
                good.add_metric([run.name, run.shard], run.ok_at.timestamp())
            failures.add_metric([run.name, run.shard], run.failures)
        yield good
        yield failures

    def _broker(self) -> Iterator[Metric]:
        """Messages that nobody could read; only where the broker is a folder."""
        folder = settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("folder")
        if folder:
            bad = GaugeMetricFamily("fleetledger_broker_bad_messages", "Unreadable messages that were put aside.")
            bad.add_metric([], bad_messages(Path(folder)))
            yield bad

    def _gpus(self) -> Metric:
        gpus = GaugeMetricFamily(
            "fleetledger_gpus",
            "GPUs by team of who uses them, else of their machine, and current state; unassigned has an empty team.",
            labels=["team", "state"],
        )
        names = {team.id: team.name for team in teams().values()}
        counts = gpus_by_team_and_state(self.clock)
        for team_id in {team for team, _state in counts} | set(names):
            for state in STATES:
                gpus.add_metric([names.get(team_id, "") if team_id else "", state], counts.get((team_id, state), 0))
        return gpus


def exposition(clock: datetime, *, with_teams: bool) -> bytes:
    """Give the text of /metrics at ``clock``."""
    registry = CollectorRegistry()
    registry.register(_Health(clock, with_teams=with_teams))
    return generate_latest(registry)
