"""`policies` and `exemptions`."""

from __future__ import annotations

from config.declared.schema import Key, ListOf, MapOf, Record
from config.declared.sections.accounts import OPTION
from config.declared.sections.organization import IDLE
from config.declared.values import EMAIL, MOMENT, NAME, TEXT, choice, decimal, duration, percent, text, whole

NAMES = ListOf(NAME, or_one=True)

SELECTOR = Record(
    {
        "teams": Key(NAMES, "Instances of these teams and their sub-teams."),
        "profiles": Key(NAMES, "Instances of these profiles; one without a profile fits no list."),
        "tags": Key(MapOf(ListOf(TEXT, least=1, or_one=True), "tag"), "Tag to the values that fit."),
        "accounts": Key(NAMES, "Instances of these accounts."),
        "purchase_options": Key(ListOf(OPTION, or_one=True), "Instances bought so."),
    }
)

STEP = Record(
    {
        "after": Key(duration("0s", "366d"), "Continuous idle time."),
        "stopped_for": Key(duration("0s", "366d"), "Time since it stopped."),
        "when": Key(choice("never_active"), "Only for what never worked."),
        "do": Key(
            choice("notify", "final_notice", "stop", "terminate", "cancel_job", "scale_to_zero", "dry_run"),
            "What happens.",
            required=True,
        ),
    },
    one_of=("after", "stopped_for"),
)

POLICY = Record(
    {
        "name": Key(NAME, "Once.", required=True),
        "mode": Key(
            choice("observe", "enforce"), "observe tells what it would do; enforce does it.", default="observe"
        ),
        "select": Key(SELECTOR, "Every key must fit; everything when absent."),
        "exclude": Key(SELECTOR, "Any key that fits leaves the instance to the next policy."),
        "idle": Key(
            Record(
                {**IDLE, "scope": Key(choice("instance", "job"), "What is judged and given back.", default="instance")}
            ),
            "Its idle rule; what is absent comes from organization.idle.",
        ),
        "grace": Key(
            duration("0s", "7d"), "Least time between the delivery of a notice and the act after it.", default="15m"
        ),
        "ladder": Key(ListOf(STEP), "What happens when; each step also waits for the delivery of the one before."),
        "limits": Key(
            Record(
                {
                    "per_hour": Key(whole(0), "Acts in an hour.", default=5),
                    "per_day": Key(whole(0), "Acts in a day.", default=20),
                    "max_percent": Key(
                        percent(), "Of the policy's running instances; never means fewer than 3.", default=10
                    ),
                    "max_price_per_hour": Key(decimal(), "List price of what is acted on in an hour.", default="500"),
                }
            ),
            "How much may be acted on.",
            default={"per_hour": 5, "per_day": 20, "max_percent": 10, "max_price_per_hour": "500"},
        ),
        "approval": Key(
            choice("none", "owner", "team_lead", "admin"), "Who must say yes before an act.", default="none"
        ),
        "destroys": Key(EMAIL, "Who said that this policy may destroy disks or jobs."),
        "act_in": Key(choice("any", "working_hours"), "When acts may happen.", default="any"),
        "min_confidence": Key(choice("low", "medium", "high"), "Of the verdict.", default="low"),
    }
)

EXEMPTION = Record(
    {
        "instance": Key(text(420), "id or account/id.", required=True),
        "reason": Key(TEXT, "Why.", required=True),
        "owner": Key(EMAIL, "Who wants it."),
        "approver": Key(EMAIL, "Who allowed it."),
        "until": Key(MOMENT, "When it ends."),
    }
)
