"""`manage.py backfill --since S --until U [--source N]`: read the samples of a range; then what hangs on them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandParser

from common.commands import DoorCommand
from common.errors import BadInput
from common.periods import parse_moment
from fleet.actions.collect import PullResult, backfill_source, live_now
from fleet.management.commands.collect import raise_when_all_failed
from fleet.queries.sources import metric_sources


class Command(DoorCommand):
    """Read the samples of a range; the GPU-hours and provisional cost of the hours they touch follow."""

    help = "read the samples of a range, and make the GPU-hours and provisional cost of the hours they touch"

    def add_options(self, parser: CommandParser) -> None:
        """Add --since, --until and --source."""
        parser.add_argument("--since", required=True, help="start, like 2025-06-03T00:00:00Z")
        parser.add_argument("--until", required=True, help="end")
        parser.add_argument("--source", help="the name of one source; all when absent")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Pull each source; then idle runs, GPU-hours, cost. It moves no clock and opens no finding."""
        since, until = parse_moment(options["since"], key="--since"), parse_moment(options["until"], key="--until")
        if until < since:
            raise BadInput("period_backwards", "--until is before --since.", hint="Exchange them.")
        sources = metric_sources(options["source"])
        results = [
            backfill_source(pk, since=since, until=until, now=until, progress=self.stderr.write) for pk in sources
        ]
        raise_when_all_failed(results, self.stderr.write)
        follow(results, since=since, until=_known_until(results, until))
        return [result.as_json() for result in results]


def _known_until(results: list[PullResult], until: datetime) -> datetime:
    """Give the end of what can be known: not beyond both the clock and the newest point."""
    newest = [result.newest_at for result in results if result.newest_at is not None]
    return min(until, max([live_now(datetime.now(UTC)), *newest]))


def follow(results: list[PullResult], *, since: datetime, until: datetime) -> None:
    """Make what hangs on samples: idle runs of the GPUs of the range, GPU-hours, provisional cost.

    All GPUs of the range, not only those that changed: a run that was killed between may have changed the others.
    """
    from billing.actions.costs import price_hours
    from fleet.actions.idle_runs import update_idle_runs
    from fleet.actions.meter import meter

    gpu_ids = sorted({gpu for result in results for gpu in result.gpu_ids})
    if gpu_ids:
        update_idle_runs(until=until, gpu_ids=gpu_ids, since=since)
    meter(now=until)
    price_hours()
