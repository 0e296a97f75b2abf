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
        "user": pgettext_lazy("subject", "person"),
        "token": pgettext_lazy("subject", "token"),
        "invitation": pgettext_lazy("subject", "invitation"),
        "file": pgettext_lazy("subject", "file"),
        "incident": pgettext_lazy("subject", "incident"),
        "installation": pgettext_lazy("subject", "installation"),
        "organization": pgettext_lazy("subject", "organisation"),
        "routes": pgettext_lazy("subject", "routes of messages"),
        "settings": pgettext_lazy("subject", "settings"),
        "view": pgettext_lazy("subject", "saved view"),
    },
    "signal": {
        "gpu_util": _("GPU utilisation"),
        "gr_engine": _("graphics engine activity"),
        "sm_active": _("SM activity"),
        "tensor": pgettext_lazy("signal", "tensor cores"),
        "dram": pgettext_lazy("signal", "memory interface"),
        "encoder": pgettext_lazy("signal", "encoder"),
        "decoder": pgettext_lazy("signal", "decoder"),
        "memory_mib": pgettext_lazy("signal", "memory in use"),
        "power_watts": pgettext_lazy("signal", "power"),
        "temperature_c": pgettext_lazy("signal", "temperature"),
    },
    "bad_value": {
        "sentinel": pgettext_lazy("bad value", "blank value of the driver"),
        "out_of_range": pgettext_lazy("bad value", "out of range"),
        "nan": pgettext_lazy("bad value", "no number"),
        "clamped": pgettext_lazy("bad value", "cut to 1"),
        "no_identity": pgettext_lazy("bad value", "without a UUID"),
    },
    "source_kind": {"prometheus": "Prometheus", "demo": pgettext_lazy("source kind", "demo")},
    "account_kind": {
        "static": pgettext_lazy("account kind", "listed by hand"),
        "demo": pgettext_lazy("account kind", "demo"),
    },
    "channel_kind": {
        "email": _("E-mail"),
        "slack": "Slack",
        "slack_webhook": "Slack webhook",
        "webhook": "Webhook",
    },
    "clock_job": {
        "sync_instances": pgettext_lazy("job of the clock", "read accounts"),
        "collect": pgettext_lazy("job of the clock", "read samples"),
        "judge": pgettext_lazy("job of the clock", "judge"),
        "meter": pgettext_lazy("job of the clock", "meter"),
        "deliver": pgettext_lazy("job of the clock", "deliver messages"),
        "retain": pgettext_lazy("job of the clock", "clear what is old"),
    },
    "act": {
        "accept_invitation": pgettext_lazy("act", "accept invitation"),
        "accept_teams": pgettext_lazy("act", "keep teams"),
        "apply": pgettext_lazy("act", "apply file"),
        "change_idle_rule": pgettext_lazy("act", "change idle rule"),
        "change_organization": pgettext_lazy("act", "change organisation"),
        "change_routes": pgettext_lazy("act", "change routes"),
        "change_source": pgettext_lazy("act", "change source"),
        "change_team": pgettext_lazy("act", "change team"),
        "channel_broken": pgettext_lazy("act", "channel broken"),
        "channel_mended": pgettext_lazy("act", "channel mended"),
        "check_sources": pgettext_lazy("act", "check sources"),
        "claim": pgettext_lazy("act", "claim"),
        "claim_ended": pgettext_lazy("act", "end claim"),
        "claim_undone": pgettext_lazy("act", "undo claim"),
        "clock_to_live": pgettext_lazy("act", "clock to live"),
        "clock_to_replay": pgettext_lazy("act", "clock to replay"),
        "connect_source": pgettext_lazy("act", "connect source"),
        "create_token": pgettext_lazy("act", "make token"),
        "end_incident": pgettext_lazy("act", "end incident"),
        "export_settings": pgettext_lazy("act", "copy settings"),
        "first_login": pgettext_lazy("act", "make first admin"),
        "grant_role": pgettext_lazy("act", "grant role"),
        "invite": pgettext_lazy("act", "invite"),
        "make_team": pgettext_lazy("act", "make team"),
        "remove_role": pgettext_lazy("act", "remove role"),
        "remove_team": pgettext_lazy("act", "remove team"),
        "remove_view": pgettext_lazy("act", "remove view"),
        "rename_view": pgettext_lazy("act", "rename view"),
        "resend_invitation": pgettext_lazy("act", "send invitation again"),
        "revoke_invitation": pgettext_lazy("act", "revoke invitation"),
        "revoke_token": pgettext_lazy("act", "revoke token"),
        "save_channel": pgettext_lazy("act", "save channel"),
        "save_view": pgettext_lazy("act", "save view"),
        "set_password": pgettext_lazy("act", "set password"),
        "sign_in": pgettext_lazy("act", "sign in"),
        "start_incident": pgettext_lazy("act", "start incident"),
        "switch_off": pgettext_lazy("act", "switch off"),
        "switch_on": pgettext_lazy("act", "switch on"),
        "test_channel": pgettext_lazy("act", "test channel"),
    },
    "actor": {
        "system": _("Fleetledger itself"),
        "command line": _("Somebody on the server"),
    },
}


def word_of(kind: str, code: str) -> str:
    """Give the words of ``code``; one from outside that has none is written as it came, with spaces."""
    return str(CODE_WORDS[kind].get(code) or code.replace("_", " "))
