"""`sources`, and how to sign in to one."""

from __future__ import annotations

from config.declared.addresses import SECRET, URL, check_header
from config.declared.schema import Key, ListOf, MapOf, Record, Variants
from config.declared.values import BOOLEAN, NAME, TEXT, duration, text

AUTH = Record(
    {
        "bearer": Key(SECRET, "A bearer token."),
        "basic": Key(
            Record(
                {
                    "user": Key(TEXT, "User name.", required=True),
                    "password": Key(SECRET, "Its password.", required=True),
                }
            ),
            "Basic authentication.",
        ),
        "header": Key(MapOf(TEXT, "header", check_header), "Headers sent along; secret ones by reference."),
        "mtls": Key(
            Record(
                {
                    "cert": Key(SECRET, "Client certificate.", required=True),
                    "key": Key(SECRET, "Its key.", required=True),
                    "ca": Key(SECRET, "Who signed the server's certificate."),
                }
            ),
            "A client certificate.",
        ),
    }
)

SOURCE = Variants(
    by="kind",
    about="What it is.",
    common={
        "name": Key(NAME, "Once.", required=True),
        "url": Key(URL, "Its address.", required=True),
        "auth": Key(AUTH, "How to sign in; several may be combined."),
        "timeout": Key(duration("1s", "10m"), "For one request."),
        "public_only": Key(
            BOOLEAN, "true: refuses private addresses. Sources made in the page have it unless allowed."
        ),
        "enabled": Key(BOOLEAN, "false: kept, not read.", default=True),
    },
    kinds={
        "prometheus": {
            "scrape_interval": Key(duration("1s", "1h"), "Learned from the data when absent."),
            "selector": Key(text(1000, "label matchers"), 'Added to every query, like cluster="a".'),
        },
        "activity": {
            "max_age": Key(duration("1s", "7d"), "An older answer counts as active.", default="10m"),
            "covers": Key(
                Record(
                    {
                        "teams": Key(ListOf(NAME, or_one=True), "All instances of these teams."),
                        "accounts": Key(ListOf(NAME, or_one=True), "All instances of these accounts."),
                        "instances": Key(ListOf(TEXT, or_one=True), "These; id or account/id."),
                    }
                ),
                "Whose idleness it may veto; a covered instance that is missing in the answer counts as active.",
            ),
        },
    },
)
