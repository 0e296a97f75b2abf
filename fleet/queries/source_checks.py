"""What a newcomer should know of a source: is it there, has it GPU metrics, are they on time. For `doctor`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from common.errors import FleetledgerError
from fleet.domain.exporters import GPU_LOOKING, known_metrics
from fleet.models import Source, SourcePull
from fleet.queries.sources import open_source
from fleet.sources.prometheus.source import PrometheusSource

LATE = timedelta(minutes=6)
AHEAD = timedelta(minutes=1)
SHOWN_NAMES = 8


@dataclass(frozen=True)
class Check:
    """One row of `doctor`: ``ok``, or what is wrong and what to do."""

    check: str
    subject: str
    ok: bool
    code: str
    message: str
    hint: str = ""

    def as_json(self) -> dict[str, object]:
        """Give the row of doors.md."""
        return {
            "check": self.check,
            "subject": self.subject,
            "ok": self.ok,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
        }


def check_source(source: Source, *, now: datetime, scripted_at: datetime | None = None) -> list[Check]:
    """Ask the source whether it can serve; a check that makes the next ones pointless is the last."""
    checks: list[Check] = []
    try:
        outside = open_source(source, scripted_at=scripted_at)
        try:
            if isinstance(outside, PrometheusSource):
                outside.client.query("vector(1)", now.timestamp())
                text = f"{outside.client.shown_url} answers."
                checks.append(Check("source_reachable", source.name, True, "ok", text))
                checks += _check_metrics(source, outside, now)
            else:
                checks.append(Check("source_reachable", source.name, True, "ok", "It answers."))
        finally:
            outside.close()
    except FleetledgerError as error:
        check = "source_reachable" if not checks else "source_metrics"
        checks.append(Check(check, source.name, False, error.code, error.message, error.hint))
    return [*checks, *(_check_pulls(source) if source.pk else [])]


def _check_metrics(source: Source, outside: PrometheusSource, now: datetime) -> list[Check]:
    since = (now - timedelta(hours=3)).timestamp()
    names = outside.names(since, (now + timedelta(hours=3)).timestamp())
    metrics = known_metrics(names)
    if not metrics:
        return [_no_metrics(source, names)]
    titles = list(dict.fromkeys(metric.dialect.title for metric in metrics))
    found = ", ".join(titles)
    newest = _newest(outside, names, now)
    if newest is None:
        text = f"{found} is known there, but the selector matches no series with points of the last hour."
        hint = "Check `selector` of the source, and that the exporters are scraped."
        return [Check("source_metrics", source.name, False, "no_gpu_series", text, hint)]
    seen = Check(
        "source_metrics", source.name, True, "ok", f"Recognised: {found}; {len(metrics)} metrics of the table."
    )
    return [seen, _on_time(source, newest, now)]


def _no_metrics(source: Source, names: set[str]) -> Check:
    looking = sorted(name for name in names if re.fullmatch(GPU_LOOKING, name))
    if looking:
        more = f" and {len(looking) - SHOWN_NAMES} more" if looking[SHOWN_NAMES:] else ""
        shown = ", ".join(looking[:SHOWN_NAMES]) + more
        return Check(
            "source_metrics",
            source.name,
            False,
            "unknown_gpu_metrics",
            f"No GPU metric has a name that is known here; these look like some: {shown}.",
            "docs/reference/signals.md lists the known names; relabel them, or add rows to the table of exporters.",
        )
    return Check(
        "source_metrics",
        source.name,
        False,
        "no_gpu_metrics",
        f"There are no GPU metrics among its {len(names)} names.",
        "Run an exporter on the GPU machines (NVIDIA: dcgm-exporter) and let this Prometheus scrape it.",
    )


def _newest(outside: PrometheusSource, names: set[str], now: datetime) -> datetime | None:
    """Give the time of the newest point between an hour before and two hours after ``now``."""
    newest = 0.0
    first, last = (now - timedelta(hours=1, minutes=10)).timestamp(), (now + timedelta(hours=2)).timestamp()
    for metric in outside.timing_metrics(names):
        body = outside.client.query_range(f"max(timestamp({outside.queries.select(metric)}))", first, last, 240)
        newest = max([newest, *body.series().value.tolist()])
    return datetime.fromtimestamp(newest, now.tzinfo) if newest else None


def _on_time(source: Source, newest: datetime, now: datetime) -> Check:
    behind = now - newest
    minutes = abs(round(behind.total_seconds() / 60))
    if behind > LATE:
        text = f"The newest point is {minutes} minutes old."
        hint = "Compare the clocks (timedatectl) of the source and this machine; look whether exporters are scraped."
        return Check("source_on_time", source.name, False, "source_late", text, hint)
    if behind < -AHEAD:
        text = f"The newest point lies {minutes} minutes in the future."
        hint = "Set the clocks of the source and of this machine (timedatectl): one of them is wrong."
        return Check("source_on_time", source.name, False, "clock_ahead", text, hint)
    text = f"The newest point is {max(0, round(behind.total_seconds()))} s old."
    return Check("source_on_time", source.name, True, "ok", text)


def _check_pulls(source: Source) -> list[Check]:
    """Tell what the last pull said of the data."""
    pull = SourcePull.objects.filter(source=source).order_by("-at", "-pk").first()
    if pull is None:
        return []
    checks: list[Check] = []
    if pull.is_partial:
        said = "; ".join(pull.warnings[:3]) or pull.error_message
        hint = "What was whole is stored; the rest is read again. Look at the source's own log."
        checks.append(
            Check("source_whole", source.name, False, "source_partial", f"The last answer was partial: {said}", hint)
        )
    dropped = sum(pull.bad_samples.values())
    if dropped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(pull.bad_samples.items()))
        checks.append(Check("source_values", source.name, True, "bad_samples", f"Dropped at the last pull: {kinds}."))
    return checks
