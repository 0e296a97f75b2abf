"""Pulling samples: `collect` reads what is new (and the last marks again), `backfill` reads a range.

Both are idempotent.

A pull goes slice by slice through time and shard by shard through the fleet; what has been read whole is stored
whole. A partial answer is stored where it adds to what is known, and the source's `collected_until` does not pass it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic

from django.db import transaction

from common.errors import FleetledgerError, OutsideFailed
from common.heap import settled_heap
from common.periods import STEP, floor_mark
from fleet.actions.intake import Intake
from fleet.actions.registry import Registry, moment
from fleet.actions.uses import close_lost_uses
from fleet.domain.exporters import known_metrics
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.slicing import Slice, lookback_seconds, plan_shards, plan_slices, raw_seconds
from fleet.domain.telemetry import MAX_SPLITS, MetricsSource, Reading, Shard, Span
from fleet.domain.timing import MAX_INTERVAL
from fleet.models import BadSample, Source, SourcePull
from fleet.queries.sources import open_source
from fleet.sources.prometheus.failures import SPLITTABLE

REREAD = 3 * STEP
"""The last marks are read again for late data."""
PROBES = 6  # marks of a range at which its devices are counted, to plan how it is cut
HOPELESS = frozenset(
    {"source_down", "source_timeout", "dns_failed", "tls_failed", "auth_failed", "auth_forbidden", "login_page"}
)
"""Codes after which the other shards need not be asked."""

Progress = Callable[[str], None]


@dataclass
class PullResult:
    """What a pull brought; ``error`` is set when the outside failed (what was whole is stored all the same)."""

    source: str
    gpus: int = 0
    samples: int = 0  # written: new or changed
    intervals: int = 0  # marks of the grid that were read
    bad_samples: dict[str, int] = field(default_factory=dict)
    coverage_pct: float | None = None
    is_partial: bool = False
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    error: FleetledgerError | None = None
    gpu_ids: set[int] = field(default_factory=set)  # with points in the marks that were read
    newest_at: datetime | None = None  # the newest raw point

    def as_json(self) -> dict[str, object]:
        """Give the object of doors.md."""
        return {
            "source": self.source,
            "gpus": self.gpus,
            "samples": self.samples,
            "intervals": self.intervals,
            "bad_samples": dict(sorted(self.bad_samples.items())),
            "coverage_pct": self.coverage_pct,
            "partial": self.is_partial,
            "warnings": self.warnings,
            "seconds": round(self.seconds, 3),
        }


def collect_source(source_id: int, *, now: datetime, scripted_at: datetime | None = None) -> PullResult:
    """Read the marks in ``(collected_until, T]``, T the last mark at or before ``now``, and the three before again.

    Raises nothing for a failure outside: it stands in the SourcePull row and in ``error``. ``scripted_at``: the
    pretended now under --at and replay, told to the source in `Fleetledger-At`.
    """
    source = Source.objects.get(pk=source_id)
    last = floor_mark(now)
    done = source.collected_until
    start = min(done or last - STEP, last) - REREAD
    fresh = max(int((done or start).timestamp()), _counted_until(source, start, last))
    pull = _Pull(source, start, last, now=now, count_after=fresh, scripted_at=scripted_at, is_backfill=False)
    result = pull.run()
    if pull.complete_until is not None and (done is None or pull.complete_until > int(done.timestamp())):
        source.collected_until = moment(pull.complete_until)
        source.save(update_fields=["collected_until"])
    if result.error is None:
        close_lost_uses(source_id=source.pk, until=float(last.timestamp()))
    return result


def backfill_source(
    source_id: int,
    *,
    since: datetime,
    until: datetime,
    now: datetime,
    progress: Progress | None = None,
    scripted_at: datetime | None = None,
) -> PullResult:
    """Read every mark in ``(since, until]``; a second run writes nothing, a killed one is simply run again."""
    source = Source.objects.get(pk=source_id)
    start, last = floor_mark(since), floor_mark(until)
    counted = _counted_until(source, start, last)
    pull = _Pull(
        source, start, last, now=now, count_after=counted, scripted_at=scripted_at, is_backfill=True, progress=progress
    )
    return pull.run()


def _counted_until(source: Source, start: datetime, last: datetime) -> int:
    """Give the end of what earlier complete pulls have read from ``start`` on: its bad samples are counted already."""
    end = start
    pulls = SourcePull.objects.filter(source=source, is_partial=False, error_code="", since__lt=last, until__gt=start)
    for since, until in pulls.order_by("since").values_list("since", "until"):
        if since > end:
            break
        end = max(end, until)
    return int(end.timestamp())


class _Pull:
    """One pull of one source over the marks in ``(start, last]``."""

    def __init__(
        self,
        source: Source,
        start: datetime,
        last: datetime,
        *,
        now: datetime,
        count_after: int,
        scripted_at: datetime | None,
        is_backfill: bool,
        progress: Progress | None = None,
    ) -> None:
        self.source, self.now, self.is_backfill, self.scripted_at = source, now, is_backfill, scripted_at
        self.first, self.last = int(start.timestamp()) + STEP_SECONDS, int(last.timestamp())
        self.count_after = count_after
        self.progress = progress or _say_nothing
        self.result = PullResult(source.name)
        self.bad: Counter[tuple[str, str, int]] = Counter()
        self.whole_bad: Counter[tuple[str, str, int]] = Counter()  # of the marks up to ``complete_until``
        self.complete_until: int | None = None
        self.minutes = self.expected_minutes = 0.0
        self.seen: set[int] = set()

    def run(self) -> PullResult:
        """Pull; write the SourcePull row whatever happens."""
        started = monotonic()
        result = self.result
        try:
            if self.last >= self.first:
                with closing(open_source(self.source, scripted_at=self.scripted_at)) as outside:
                    self._read_all(outside)
        except FleetledgerError as error:
            result.error, result.is_partial = error, True
        result.seconds = monotonic() - started
        result.gpus = len(self.seen)
        result.intervals = max(0, (self.last - self.first) // STEP_SECONDS + 1)
        if self.expected_minutes:
            result.coverage_pct = round(min(100.0, 100 * self.minutes / self.expected_minutes), 2)
        for (kind, _, _), count in self.bad.items():
            result.bad_samples[kind] = result.bad_samples.get(kind, 0) + count
        self._write_pull()
        return result

    def _read_all(self, outside: MetricsSource) -> None:
        registry = Registry.of(self.source)
        names = outside.names(self.first - STEP_SECONDS - MAX_INTERVAL - 1, self.last)
        if not known_metrics(names):
            self.result.warnings.append("no_gpu_metrics: the source has no metric that is known; `doctor` says more")
        devices = len(registry.gpus)
        if self.is_backfill or not devices:
            span = self.last - self.first
            marks = {self.first + span * part // PROBES // STEP_SECONDS * STEP_SECONDS for part in range(PROBES)}
            devices = max(devices, *(outside.count_series(mark) for mark in sorted({*marks, self.last})))
        shards = plan_shards(devices)
        per_shard = max(1, devices // len(shards))
        intervals = [target.interval for target in registry.targets.values()]
        lookback = lookback_seconds(intervals, is_backfill=self.is_backfill)
        outside.raw_seconds = raw_seconds(per_shard, intervals)
        needs_facts = self.is_backfill or not registry.gpus or not registry.has_facts
        slices = plan_slices(self.first, self.last, per_shard, lookback, needs_facts=needs_facts)
        intake = Intake(
            self.source, registry, outside, now=self.now, is_backfill=self.is_backfill, count_after=self.count_after
        )
        for number, piece in enumerate(slices, start=1):
            with settled_heap():
                is_whole = self._read_slice(outside, intake, piece, shards)
            if not is_whole:
                self.result.is_partial = True
            elif not self.result.is_partial:
                self.complete_until, self.whole_bad = piece.last, Counter(intake.bad)
            shown = "whole" if is_whole else "in part"
            self.progress(
                f"{self.source.name}: {number}/{len(slices)} until {moment(piece.last):%Y-%m-%d %H:%M} {shown}"
            )
        self.bad = intake.bad
        self.minutes, self.expected_minutes, self.seen = intake.minutes, intake.expected_minutes, intake.seen
        self.result.samples, self.result.gpu_ids = intake.written, intake.seen
        self.result.newest_at = moment(intake.newest) if intake.newest else None
        self.result.warnings += [text for text in intake.warnings if text not in self.result.warnings]

    def _read_slice(self, outside: MetricsSource, intake: Intake, piece: Slice, shards: list[Shard]) -> bool:
        """Read a slice, shard by shard; a shard that is too big is halved. Tells whether all of it was whole.

        While a shard is read, what is new of the next one is found out; while one is taken in, the next one is read.
        """
        waiting = deque(shards)
        is_whole = True
        with ThreadPoolExecutor(1) as pool:

            def begin(found: tuple[Shard, Slice] | None) -> tuple[Shard, Slice, Future[Reading]] | None:
                if found is None:
                    return None
                shard, part = found
                span = Span(part.first, part.last, part.raw_since, float(self.count_after))
                return shard, part, pool.submit(outside.read, span, shard, with_facts=part.with_facts)

            running = begin(_next_part(intake, piece, waiting))
            while running is not None:
                following = _next_part(intake, piece, waiting)
                shard, part, answer = running
                try:
                    reading = answer.result()
                except OutsideFailed as error:
                    is_whole = self._can_go_on(error, shard, waiting) and is_whole
                    running = begin(following or _next_part(intake, piece, waiting))
                    continue
                running = begin(following)
                is_whole = intake.take(reading, part) and is_whole
        intake.end_slice(piece)
        return is_whole

    def _can_go_on(self, error: OutsideFailed, shard: Shard, waiting: deque[Shard]) -> bool:
        """Halve a shard that was too big, or note that it failed; tell whether nothing is lost. Raises the hopeless."""
        if error.code in SPLITTABLE and len(shard.matchers) < MAX_SPLITS:
            waiting.extendleft(reversed(shard.halves()))
            return True
        if error.code in HOPELESS:
            raise error
        self.result.warnings.append(f"{error.code}: {error.message}")
        self.result.error = error
        return False

    @transaction.atomic
    def _write_pull(self) -> None:
        """Write the row and the daily counts of bad samples.

        Only what is not read again is counted, and what another pull has counted meanwhile is not counted twice.
        """
        Source.objects.select_for_update().get(pk=self.source.pk)
        is_read_again = self.is_backfill and self.result.is_partial
        if (
            is_read_again
            or _counted_until(self.source, moment(self.first - STEP_SECONDS), moment(self.last)) >= self.last
        ):
            self.whole_bad.clear()
        error = self.result.error
        SourcePull.objects.create(
            source=self.source,
            at=self.now,
            since=moment(self.first - STEP_SECONDS),
            until=moment(max(self.last, self.first - STEP_SECONDS)),
            gpus=self.result.gpus,
            samples=self.result.samples,
            coverage_pct=self.result.coverage_pct,
            is_partial=self.result.is_partial,
            warnings=self.result.warnings,
            bad_samples=self.result.bad_samples,
            seconds=self.result.seconds,
            error_code=error.code if error else "",
            error_message=error.message if error else "",
            error_hint=error.hint if error else "",
        )
        for (kind, signal, day), count in self.whole_bad.items():
            date = moment(day * 86_400).date()
            row, _ = BadSample.objects.get_or_create(source=self.source, day=date, kind=kind, signal=signal)
            row.count += count
            row.save(update_fields=["count"])


def _next_part(intake: Intake, piece: Slice, waiting: deque[Shard]) -> tuple[Shard, Slice] | None:
    """Give the next shard that has anything new, and which part of the slice that is."""
    while waiting:
        shard = waiting.popleft()
        part = intake.narrowed(piece, shard)
        if part is not None:
            return shard, part
    return None


def _say_nothing(text: str) -> None:
    """Report no progress."""


def live_now(clock: datetime) -> datetime:
    """Give the time that a live pull works at: two minutes behind the clock, since the newest points come late."""
    return clock - timedelta(minutes=2)
