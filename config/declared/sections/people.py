"""`teams`, `people` and `ownership`."""

from __future__ import annotations

from config.declared.schema import Key, ListOf, MapOf, Record
from config.declared.values import EMAIL, MOMENT, NAME, TIME_ZONE, choice, text

GLOB = text(300, "glob")
GLOBS = ListOf(GLOB, least=1, or_one=True)

TEAM = Record(
    {
        "name": Key(NAME, "Once in any case.", required=True),
        "parent": Key(NAME, "The team above it."),
        "cost_center": Key(NAME, "As finance calls it."),
    }
)

PERSON = Record(
    {
        "email": Key(EMAIL, "Who it is; once.", required=True),
        "name": Key(text(200, "name"), "As pages show it."),
        "time_zone": Key(TIME_ZONE, "For quiet hours; the organisation's when absent."),
        "roles": Key(
            ListOf(
                Record(
                    {
                        "role": Key(
                            choice("viewer", "engineer", "team_lead", "finance", "admin"),
                            "What they may do.",
                            required=True,
                        ),
                        "team": Key(NAME, "For this team and its sub-teams; everywhere when absent."),
                    }
                )
            ),
            "Roles, all of them: what is not in the list is taken away.",
        ),
    }
)

MATCH_KEYS = ("namespace", "host", "account", "sub_account", "provider", "job_owner", "sku")

OWNERSHIP_RULE = Record(
    {
        "team": Key(NAME, "The team of all that matches."),
        "team_from": Key(
            Record(
                {
                    "tag": Key(NAME, "A tag of the instance."),
                    "label": Key(NAME, "A label of the job, else of the instance."),
                },
                one_of=("tag", "label"),
            ),
            "Where the team's name stands, in any case; a name that is no team leaves the thing to later rules.",
        ),
        "strip_prefix": Key(NAME, "Taken off the name before it is looked up."),
        "match": Key(
            Record(
                {
                    **{name: Key(GLOBS, "Globs, in any case; one of them must fit.") for name in MATCH_KEYS},
                    "label": Key(
                        MapOf(GLOBS, "label"), "Labels of the job, else of the instance, all of which must fit."
                    ),
                    "tag": Key(MapOf(GLOBS, "tag"), "Tags of the instance, all of which must fit."),
                }
            ),
            "What the rule is for; everything when absent.",
        ),
        "valid_from": Key(MOMENT, "Since when this rule holds; without it, since the apply that brings it."),
    },
    one_of=("team", "team_from"),
)
