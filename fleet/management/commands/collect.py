"""`manage.py collect [--source N] [--at T]`: read new samples of every source, or of one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandParser

from common.commands import DoorCommand
from fleet.actions.collect import PullResult, collect_source, live_now
from fleet.queries.sources import metric_sources


class Command(DoorCommand):
    """Read new samples."""

    help = "read new samples of every source, or of one"
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add --source."""
        parser.add_argument("--source", help="the name of one source; all when absent")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Pull each source; a source that fails does not keep the others from being read."""
        now = at or live_now(datetime.now(UTC))
        results = [collect_source(pk, now=now, scripted_at=at) for pk in metric_sources(options["source"])]
        raise_when_all_failed(results, self.stderr.write)
        return [result.as_json() for result in results]


def raise_when_all_failed(results: list[PullResult], say: Any) -> None:
    """Tell every failure on stderr; when no source answered, the first one is the command's."""
    for result in results:
        if result.error is not None:
            say(f"{result.source}: {result.error.message} {result.error.hint} [{result.error.code}]")
    errors = [result.error for result in results if result.error is not None]
    if errors and len(errors) == len(results) and all(not result.gpus for result in results):
        raise errors[0]
