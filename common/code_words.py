"""The words of codes that stand in data: findings, a provider's states, ways to pay, modes. Rows keep the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

Words = Mapping[str, Any]

FINDING_WORDS: Words = {
    "anomaly": _("unusual spend"),
    "balance": _("prepaid credit runs out"),
    "breaker": _("releases are paused"),
    "broken_signal": _("a signal is broken"),
    "budget": _("budget"),
    "channel": _("a channel fails"),
    "duplicate_source": _("seen by two sources"),
    "frozen": _("readings are frozen"),
    "ghost": _("billed, never seen"),
    "gpu_lost": _("a GPU is lost"),
    "idle": _("idle"),
    "lease_expired": _("lease expired"),
    "low_utilization": _("low utilisation"),
    "partly_used": _("partly used"),
    "release": _("release"),
    "source": _("a source can’t be read"),
    "stopped_but_billed": _("stopped, but billed"),
    "suspected_hang": _("seems to hang"),
    "target_down": _("exporter does not answer"),
    "throttled": _("throttled"),
    "unassigned": _("without a team"),
    "unknown_host": _("unknown host"),
    "unmanaged_use": _("used outside the scheduler"),
    "unpriced": _("without a price"),
    "xid": _("GPU error (XID)"),
}

CODE_WORDS: Mapping[str, Words] = {
    "finding": FINDING_WORDS,
    "provider_state": {
        "running": pgettext_lazy("provider state", "running"),
        "stopping": pgettext_lazy("provider state", "stopping"),
        "stopped": pgettext_lazy("provider state", "stopped"),
        "stopped_billed": pgettext_lazy("provider state", "stopped, billed on"),
        "terminated": pgettext_lazy("provider state", "terminated"),
        "gone": pgettext_lazy("provider state", "gone"),
    },
    "purchase": {
        "on_demand": pgettext_lazy("purchase", "on demand"),
        "spot": pgettext_lazy("purchase", "spot"),
        "reserved": pgettext_lazy("purchase", "reserved"),
        "capacity_block": pgettext_lazy("purchase", "capacity block"),
        "owned": pgettext_lazy("purchase", "owned"),
    },
    "price_source": {
        "inventory": pgettext_lazy("price source", "inventory"),
        "contract": pgettext_lazy("price source", "contract"),
        "list": pgettext_lazy("price source", "price list"),
    },
    "confidence": {
        "low": pgettext_lazy("confidence", "low"),
        "medium": pgettext_lazy("confidence", "medium"),
        "high": pgettext_lazy("confidence", "high"),
    },
    "mode": {
        "observe": pgettext_lazy("mode", "observe"),
        "enforce": pgettext_lazy("mode", "enforce"),
    },
    "scope": {
        "instance": pgettext_lazy("scope", "machine"),
        "job": pgettext_lazy("scope", "job"),
    },
    "subject": {
        "gpu": _("GPU"),
        "job": pgettext_lazy("subject", "job"),
        "instance": pgettext_lazy("subject", "machine"),
        "source": pgettext_lazy("subject", "source"),
        "target": pgettext_lazy("subject", "exporter"),
        "host": pgettext_lazy("subject", "host"),
        "channel": pgettext_lazy("subject", "channel"),
        "team": pgettext_lazy("subject", "team"),
    },
}


def word_of(kind: str, code: str) -> str:
    """Give the words of ``code``; one from outside that has none is written as it came, with spaces."""
    return str(CODE_WORDS[kind].get(code) or code.replace("_", " "))
