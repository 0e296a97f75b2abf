"""`prices`, `commitments`, `budgets` and `mappings`."""

from __future__ import annotations

from config.declared.schema import Key, ListOf, MapOf, Record
from config.declared.sections.accounts import OPTION
from config.declared.values import (
    CURRENCY,
    DAY,
    MOMENT,
    NAME,
    TEXT,
    TIME_ZONE,
    choice,
    decimal,
    duration,
    percent,
    text,
    whole,
)

WORD = text(200)

PRICE = Record(
    {
        "provider": Key(text(60, "name"), "As accounts name it; any when absent."),
        "sku": Key(WORD, "Instance type or disk type; any when absent."),
        "gpu_model": Key(text(120, "name"), "Any when absent."),
        "gpu_count": Key(whole(1, 1024), "Of the instance; any when absent."),
        "region": Key(text(60, "name"), "Any when absent."),
        "purchase_option": Key(OPTION, "Any when absent."),
        "price_per_hour": Key(decimal(), "For units per hour."),
        "price": Key(decimal(), "For any unit."),
        "unit": Key(choice("instance_hour", "gpu_hour", "gb_month"), "What the price is for.", required=True),
        "currency": Key(CURRENCY, "The organisation's when absent."),
        "valid_from": Key(MOMENT, "Since when; without it, always."),
        "valid_to": Key(MOMENT, "Until when (the first moment it no longer holds); open when absent."),
        "source": Key(text(300), "Where it is from: contract, list, ...", default="contract"),
        "source_date": Key(DAY, "When it was read."),
    },
    one_of=("price_per_hour", "price"),
)

COMMITMENT = Record(
    {
        "name": Key(NAME, "Once.", required=True),
        "account": Key(NAME, "Whose instances it covers; with provider, those of all its accounts."),
        "provider": Key(text(60, "name"), "Whose accounts it covers."),
        "sku": Key(WORD, "Only these."),
        "gpu_model": Key(text(120, "name"), "Only these."),
        "gpu_count": Key(whole(1, 10**6), "How many GPUs are committed."),
        "region": Key(text(60, "name"), "Only there."),
        "price_per_gpu_hour": Key(decimal(), "Paid for each committed GPU and hour."),
        "price_per_hour": Key(decimal(), "Paid per hour for the whole."),
        "upfront": Key(decimal(), "Paid at the start."),
        "currency": Key(CURRENCY, "The organisation's when absent."),
        "from": Key(MOMENT, "Start.", required=True),
        "to": Key(MOMENT, "End."),
    }
)

BUDGET = Record(
    {
        "name": Key(NAME, "Once.", required=True),
        "team": Key(NAME, "Of this team with its sub-teams."),
        "account": Key(NAME, "Of this account."),
        "project": Key(WORD, "Of this sub-account."),
        "period": Key(
            choice("week", "month", "quarter", "year", "custom"), "How often it starts anew.", default="month"
        ),
        "from": Key(MOMENT, "Start, for custom."),
        "to": Key(MOMENT, "End, for custom."),
        "amount": Key(decimal(), "Limit in money; 0 tells at the first spend."),
        "gpu_hours": Key(decimal(), "Limit in GPU-hours instead."),
        "currency": Key(CURRENCY, "The organisation's when absent."),
        "thresholds": Key(
            Record(
                {
                    "actual": Key(ListOf(percent(most=1000), or_one=True), "Percent of the limit, spent."),
                    "forecast": Key(ListOf(percent(most=1000), or_one=True), "Percent of the limit, foreseen."),
                }
            ),
            "When to tell, each once per period; only the lists that stand here.",
            default={"actual": [50, 80, 100], "forecast": [100]},
        ),
        "at_limit": Key(
            choice("notify", "freeze_leases", "release_waste"), "What happens at the limit.", default="notify"
        ),
    },
    one_of=("amount", "gpu_hours"),
)

MAPPING = Record(
    {
        "name": Key(NAME, "Once.", required=True),
        "columns": Key(MapOf(TEXT, "column of ours"), "Our column to the file's.", required=True),
        "constants": Key(MapOf(TEXT, "column of ours"), "Our column to one value for all rows."),
        "dates": Key(
            Record(
                {
                    "format": Key(WORD, "iso, epoch, or a pattern like %d.%m.%Y.", default="iso"),
                    "time_zone": Key(TIME_ZONE, "Of times without one; the organisation's when absent."),
                    "length": Key(duration("1s"), "What a row stands for when no column holds its end."),
                    "end": Key(TEXT, "The column that holds the end."),
                }
            ),
            "How times are written.",
        ),
        "numbers": Key(
            Record(
                {
                    "decimal": Key(choice(".", ","), "Decimal mark.", default="."),
                    "group": Key(choice("", ",", ".", "'", " "), "Between thousands; empty for none."),
                }
            ),
            "How numbers are written.",
        ),
        "tags": Key(TEXT, 'json, "k:v;k:v", or the prefix of tag columns.'),
    }
)
