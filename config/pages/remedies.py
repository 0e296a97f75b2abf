"""What is to be done so that everything is seen: the worst first, each with its remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from alerts.queries.channel_health import ChannelHealth
from common.code_words import word_of
from common.refusal_words import refusal_words
from common.words import duration, sentences
from config.health import job_checks
from fleet.queries.data_health import SourceDay
from fleet.queries.health import JobHealth


@dataclass(frozen=True)
class Remedy:
    """One thing to do. ``level``: bad or warn; ``link``: where it is seen."""

    level: str
    title: str
    text: str
    link: str = ""


def remedies(
    days: Sequence[SourceDay], runs: Sequence[JobHealth], channels: Sequence[ChannelHealth], contested: Sequence[str],
    *, now: datetime, is_replaying: bool,
) -> list[Remedy]:  # fmt: skip
    """Give what needs a hand, the worst first. While the world is replayed no job is due and no source is late."""
    found = [
        *_sources(days, now, is_replaying),
        *_jobs(runs, now, is_replaying),
        *_channels(channels),
        *_hosts(contested),
    ]
    return sorted(found, key=lambda one: one.level != "bad")


def _sources(days: Sequence[SourceDay], now: datetime, is_replaying: bool) -> Iterator[Remedy]:
    for one in days:
        link = f"/sources/{one.name}/"
        if one.pull.get("error_code"):
            since = duration(now - one.failing_since) if one.failing_since else ""
            title = _("Source %(name)s has been failing for %(since)s.") % {"name": one.name, "since": since}
            said = sentences(*refusal_words(one.pull["error_code"], one.pull["error_message"], one.pull["error_hint"]))
            yield Remedy("bad", title, said, link)
        elif one.is_late(now) and not is_replaying:
            title = _("Source %(name)s is late.") % {"name": one.name}
            yield Remedy("bad", title, _("Is the worker running? Time without an answer counts as unknown."), link)
        if one.down:
            title = ngettext(
                "%(n)d exporter behind %(name)s does not answer.", "%(n)d exporters behind %(name)s do not answer.",
                one.down,
            ) % {"n": one.down, "name": one.name}  # fmt: skip
            text = _("The source reaches for them and gets nothing: look at the exporter’s service on these machines.")
            yield Remedy("warn", title, text, link)
        if one.pull.get("is_partial"):
            title = _("The last answer of %(name)s was not whole.") % {"name": one.name}
            yield Remedy("warn", title, _("What was whole is stored; the rest is read again."), link)


def _jobs(runs: Sequence[JobHealth], now: datetime, is_replaying: bool) -> Iterator[Remedy]:
    for check in job_checks(runs, clock=now, is_replaying=is_replaying) if runs else ():
        if check.message:
            title = _("The job %(name)s does not complete.") % {"name": word_of("clock_job", check.name)}
            yield Remedy("bad", title, _("Is the worker running? Its log says why; the job tries again by itself."))


def _channels(channels: Sequence[ChannelHealth]) -> Iterator[Remedy]:
    for one in channels:
        if one.broken_at:
            title = _("The channel %(name)s is broken: %(reason)s.") % {"name": one.name, "reason": one.broken_reason}
            yield Remedy("bad", title, _("Mend its address, then save or apply it again; nothing goes out until then."))
        elif one.failing_since:
            title = _("The channel %(name)s takes no message at present.") % {"name": one.name}
            yield Remedy("warn", title, _("It is tried again by itself."))


def _hosts(contested: Sequence[str]) -> Iterator[Remedy]:
    for host in contested[:10]:
        title = _("Two running machines say that they are %(host)s.") % {"host": host}
        text = _("What telemetry says of it belongs to neither, so it is unknown. Correct the host of one of them.")
        yield Remedy("warn", title, text)
