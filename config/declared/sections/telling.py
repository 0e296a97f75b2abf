"""`channels` and `routes`."""

from __future__ import annotations

from config.declared.addresses import SECRET, SECRET_URL, URL_OR_SECRET
from config.declared.schema import Key, ListOf, Record, Variants
from config.declared.values import BOOLEAN, EMAIL, NAME, choice, duration

KINDS = choice(
    "idle", "low_utilization", "suspected_hang", "partly_used", "ghost", "stopped_but_billed", "unassigned", "unpriced",
    "gpu_lost", "throttled", "xid", "unmanaged_use", "target_down", "unknown_host", "frozen", "broken_signal",
    "duplicate_source", "lease_expired", "budget", "anomaly", "balance", "release", "breaker", "source", "channel",
)  # fmt: skip
PRIVATE = Key(BOOLEAN, "true: may reach a private address.", default=False)
TIMEOUT = Key(duration("1s", "1m"), "For one request.")

CHANNEL = Variants(
    by="kind",
    about="How it tells.",
    common={
        "name": Key(NAME, "Once.", required=True),
        "test": Key(BOOLEAN, "true: a scripted receiver on loopback that is reached in replay too.", default=False),
        "counts_as_notice": Key(
            BOOLEAN, "Whether a message here is a notice before an act; by default all but webhooks."
        ),
    },
    kinds={
        "slack_webhook": {
            "url": Key(SECRET_URL, "The incoming webhook.", required=True),
            "allow_private": PRIVATE,
            "timeout": TIMEOUT,
        },
        "email": {
            "to": Key(
                ListOf(EMAIL, least=1, or_one=True), "Always these; else the owner, the team's leads, the admins."
            ),
            "from": Key(EMAIL, "The sender; else that of EMAIL_URL."),
        },
        "webhook": {
            "url": Key(URL_OR_SECRET, "Where to POST.", required=True),
            "secret": Key(SECRET, "Signs the body."),
            "allow_private": PRIVATE,
            "timeout": TIMEOUT,
        },
    },
)

ROUTE = Record(
    {
        "match": Key(
            Record(
                {
                    "teams": Key(ListOf(NAME, or_one=True), "Messages of these teams; all when absent."),
                    "kinds": Key(ListOf(KINDS, or_one=True), "Messages of these kinds; all when absent."),
                }
            ),
            "What it is for; everything when absent.",
        ),
        "channels": Key(ListOf(NAME, least=1, or_one=True), "Where it goes, all of them.", required=True),
        "fallback": Key(ListOf(NAME, or_one=True), "Where it goes when none of these took it."),
    }
)
