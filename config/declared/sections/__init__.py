"""The form of `fleet.yaml`: every section, every key, as data. The reference is printed from it."""

from __future__ import annotations

from config.declared.schema import Anything, Key, ListOf, Record
from config.declared.sections.accounts import ACCOUNT
from config.declared.sections.money import BUDGET, COMMITMENT, MAPPING, PRICE
from config.declared.sections.organization import ORGANIZATION
from config.declared.sections.people import OWNERSHIP_RULE, PERSON, TEAM
from config.declared.sections.policies import EXEMPTION, POLICY
from config.declared.sections.sources import SOURCE
from config.declared.sections.telling import CHANNEL, ROUTE

KEPT = ("leases", "schedules", "profiles", "allocation", "fx_rates", "hooks", "calendars")
"""Sections that are accepted and kept as they are for what comes later."""

FLEET = Record(
    {
        "organization": Key(
            ORGANIZATION, "Name, currency, zone and hours of the whole, and the idle rule of all reports."
        ),
        "teams": Key(ListOf(TEAM), "Teams and their sub-teams."),
        "people": Key(ListOf(PERSON), "Who signs in and is told; everybody sets a password or comes through SSO."),
        "ownership": Key(ListOf(OWNERSHIP_RULE), "Ordered rules, the first that yields a team wins."),
        "sources": Key(ListOf(SOURCE), "Where telemetry comes from."),
        "accounts": Key(ListOf(ACCOUNT), "Provider accounts with their instances."),
        "prices": Key(ListOf(PRICE), "The price book: contract and list prices with their validity."),
        "commitments": Key(ListOf(COMMITMENT), "Capacity that is paid for whether used or not."),
        "policies": Key(ListOf(POLICY), "Ordered; the first that matches an instance is its policy."),
        "exemptions": Key(ListOf(EXEMPTION), "Instances that policies leave alone for a time."),
        "budgets": Key(ListOf(BUDGET), "Limits of spend or GPU-hours."),
        "channels": Key(ListOf(CHANNEL), "Ways to tell somebody."),
        "routes": Key(ListOf(ROUTE), "Ordered; the first that matches a message takes it."),
        "mappings": Key(ListOf(MAPPING), "How the columns of a file map to charges or usage."),
        **{name: Key(Anything(), "Reserved: accepted and kept, without effect yet.") for name in KEPT},
    }
)
