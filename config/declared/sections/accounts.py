"""`accounts` of kind `static` (instances listed here) and `http` (a REST API of the common shape)."""

from __future__ import annotations

from config.declared.addresses import HTTP_PATH, SECRET, URL
from config.declared.schema import Key, ListOf, MapOf, Record, Variants
from config.declared.values import (
    BOOLEAN,
    CURRENCY,
    MOMENT,
    NAME,
    TEXT,
    choice,
    decimal,
    duration,
    text,
    whole,
    without_slash,
)

STATE = choice("running", "stopping", "stopped", "stopped_billed", "terminated")
OPTION = choice("on_demand", "spot", "reserved", "capacity_block", "owned")
WORD = text(300)

DISK = Record(
    {
        "size_gb": Key(decimal(positive=True), "Size in GB.", required=True),
        "price_per_gb_month": Key(decimal(), "Per GB and month of organization.hours_per_month; else from prices."),
        "currency": Key(CURRENCY, "Of the price; the instance's when absent."),
        "sku": Key(WORD, "To find it in prices."),
        "from": Key(MOMENT, "Since when; the launch when absent."),
        "to": Key(MOMENT, "Until when; else until the instance is terminated."),
    }
)

INSTANCE = Record(
    {
        "id": Key(WORD, "As the provider calls it; once per account.", required=True),
        "host": Key(WORD, "How telemetry names it; the id when absent."),
        "gpu_model": Key(text(120), "Like H100-SXM5-80GB."),
        "gpu_count": Key(whole(1, 1024), "How many GPUs it has."),
        "state": Key(STATE, "The state now; running when neither this nor history says."),
        "launched_at": Key(MOMENT, "First start."),
        "last_started_at": Key(MOMENT, "Last start; launched_at when absent."),
        "stopped_at": Key(MOMENT, "When it stopped, for a stopped or terminated one."),
        "price_per_hour": Key(decimal(), "Of the whole instance; wins over prices."),
        "currency": Key(CURRENCY, "Of that price; the organisation's when absent."),
        "purchase_option": Key(OPTION, "How it is bought."),
        "profile": Key(NAME, "interactive, batch, serving, production, or one of profiles."),
        "region": Key(WORD, "Where it stands."),
        "zone": Key(WORD, "Availability zone."),
        "sku": Key(WORD, "Instance type, to find it in prices."),
        "sub_account": Key(WORD, "Project, subscription or the like."),
        "local_disk": Key(BOOLEAN, "Whether a stop loses a local disk."),
        "disks": Key(ListOf(DISK), "Disks that go on when it stops."),
        "history": Key(
            ListOf(
                Record(
                    {
                        "at": Key(MOMENT, "Since when.", required=True),
                        "state": Key(STATE, "Which state.", required=True),
                    }
                )
            ),
            "States over time; replaces what was known.",
        ),
        "protected": Key(BOOLEAN, "true: never acted on."),
        "group": Key(WORD, "Autoscaling group or pool."),
        "owner": Key(text(254), "E-mail of the person."),
        "tags": Key(MapOf(TEXT, "tag"), "As at the provider."),
        "labels": Key(MapOf(TEXT, "label"), "Node labels."),
        "valid_from": Key(MOMENT, "Since when a change of this entry holds; without it, since the apply."),
    }
)

CALL = {
    "method": Key(choice("GET", "POST", "PUT", "PATCH", "DELETE"), "HTTP method.", required=True),
    "path": Key(HTTP_PATH, "Below base_url; {id} is the instance's.", required=True),
    "body": Key(MapOf(TEXT, "field"), "JSON body."),
}
FIELDS = ("id", "host", "state", *(name for name in INSTANCE.keys if name not in ("id", "host", "state", "valid_from")))

HTTP = {
    "base_url": Key(URL, "Address of the API.", required=True),
    "test": Key(BOOLEAN, "true: a scripted provider on loopback that may be acted on in replay.", default=False),
    "token": Key(SECRET, "Reads."),
    "act_token": Key(SECRET, "Acts; without it the account can't be acted on."),
    "timeout": Key(duration("1s", "10m"), "For one request.", default="10s"),
    "ok": Key(
        Record(
            {
                "path": Key(WORD, "Where the answer says so.", required=True),
                "equals": Key(WORD, "What it says.", required=True),
            }
        ),
        "When 200 may still be an error.",
    ),
    "already": Key(ListOf(whole(100, 599), or_one=True), "Answers that mean it is already so."),
    "list": Key(
        Record(
            {
                **CALL,
                "items": Key(WORD, "Where the list stands in the answer."),
                "fields": Key(
                    Record({name: Key(WORD, "Where it stands in an item.") for name in (*FIELDS, "disk_gb")}),
                    "Attribute of an instance to the name in the answer.",
                    required=True,
                ),
                "next": Key(WORD, "Where the next page's address stands."),
                "states": Key(
                    Record(
                        {
                            name: Key(ListOf(WORD, or_one=True), "The provider's words.")
                            for name in STATE.name.split(" \\| ")
                        }
                    ),
                    "The provider's words for our states.",
                    required=True,
                ),
            }
        ),
        "How to list instances.",
        required=True,
    ),
    "get": Key(Record(CALL), "How to read one."),
    "create": Key(WORD, "Reserved."),
    "start": Key(Record(CALL), "How to start one."),
    "stop": Key(Record(CALL), "How to stop one."),
    "terminate": Key(Record(CALL), "How to end one."),
    "capabilities": Key(
        Record(
            {
                "stop_ends_billing": Key(BOOLEAN, "A stop ends what the machine costs."),
                "stop_loses_local_disk": Key(BOOLEAN, "A stop loses local disks."),
                "can_start_again": Key(BOOLEAN, "A stopped one can be started again."),
            }
        ),
        "What its stop means.",
    ),
}

ACCOUNT = Variants(
    by="kind",
    about="Where its instances come from.",
    common={
        "name": Key(without_slash(), "Once.", required=True),
        "provider": Key(text(60, "name"), "Whose price book and bill format apply.", required=True),
        "group_minimums": Key(MapOf(whole(0), "group"), "A group never falls below this by our acts."),
    },
    kinds={
        "static": {
            "instances": Key(ListOf(INSTANCE), "Machines without an API."),
            "test": Key(BOOLEAN, "true: may be acted on in replay.", default=False),
        },
        "http": HTTP,
    },
)
