"""The health of every channel, for `doctor` and the pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from alerts.models import Channel
from alerts.queries.adapters import adapter
from common.errors import FleetledgerError
from common.periods import iso


@dataclass(frozen=True)
class ChannelCheck:
    """One row of `doctor` about a channel."""

    subject: str
    ok: bool
    code: str
    message: str
    hint: str = ""


def channel_checks(now: datetime) -> list[ChannelCheck]:
    """Look at every channel without calling it: broken, told to wait, badly declared, or fine."""
    return [_check(channel, now) for channel in Channel.objects.order_by("name")]


def _check(channel: Channel, now: datetime) -> ChannelCheck:
    if channel.broken_at:
        return ChannelCheck(
            channel.name, False, "channel_broken", f"Broken since {iso(channel.broken_at)}: {channel.broken_reason}.",
            "Mend its address and apply the file again.",
        )  # fmt: skip
    try:
        adapter(channel).check()
    except FleetledgerError as error:
        return ChannelCheck(channel.name, False, error.code, error.message, error.hint)
    if channel.failing_since:
        return ChannelCheck(
            channel.name, False, "channel_failing", f"No message was accepted since {iso(channel.failing_since)}.",
            "Look at the attempts with manage.py deliveries; it tries again by itself.",
        )  # fmt: skip
    if channel.not_before and channel.not_before > now:
        return ChannelCheck(channel.name, True, "waits", f"Waits until {iso(channel.not_before)}, as it was asked to.")
    return ChannelCheck(channel.name, True, "ok", "Ready.")


def channel_names(*, undeclared_only: bool = False) -> list[str]:
    """Give the names of all channels, or of those that no file has declared."""
    rows = Channel.objects.filter(declared=None) if undeclared_only else Channel.objects.all()
    return list(rows.values_list("name", flat=True))


def channel_specs(*, declared_only: bool = False) -> list[dict[str, Any]]:
    """Give each channel's form by name; ``declared_only``: of those that a file declared."""
    rows = Channel.objects.order_by("name")
    rows = rows.exclude(declared=None) if declared_only else rows
    return [{"name": row.name, "kind": row.kind, **row.spec} for row in rows]


def channels_as_they_are() -> list[dict[str, Any]]:
    """Give each channel's form by name, with ``is_managed``: that fleet.yaml gave it."""
    return [
        {"name": row.name, "kind": row.kind, **row.spec, "is_managed": row.declared is not None}
        for row in Channel.objects.order_by("name")
    ]
