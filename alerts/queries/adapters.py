"""From a declared channel to the adapter of its kind. The kinds stand in settings, as dotted paths."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from alerts.domain.ports import Channel as ChannelPort
from alerts.domain.ports import is_on
from alerts.models import Channel
from common.errors import BadInput


def adapter(channel: Channel) -> ChannelPort:
    """Give the adapter for ``channel``. Raises BadInput (unknown_channel_kind)."""
    path = settings.ALERT_CHANNELS.get(channel.kind)
    if path is None:
        known = ", ".join(sorted(settings.ALERT_CHANNELS))
        raise BadInput("unknown_channel_kind", f"No channel is of kind {channel.kind!r}.", hint=f"Known: {known}.")
    return cast("ChannelPort", import_string(path)(channel.name, channel.spec))


def is_test(channel: Channel) -> bool:
    """Say whether the channel is a scripted one on loopback (``test: true``)."""
    return is_on(channel.spec, "test")
