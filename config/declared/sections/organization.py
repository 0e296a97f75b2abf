"""`organization`, and the idle rule that it and the policies share."""

from __future__ import annotations

from config.declared.schema import Key, ListOf, Record
from config.declared.values import CLOCK, CURRENCY, DAY, MOMENT, NAME, TIME_ZONE, choice, decimal, duration, percent

DAYS = choice("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WINDOW = duration("15m", "7d")

IDLE = {
    "threshold_pct": Key(percent(positive=True), "Every activity signal stays under this, at its peak."),
    "window": Key(WINDOW, "How long, when memory is held or unknown."),
    "empty_window": Key(WINDOW, "How long, when nothing is held."),
    "min_coverage_pct": Key(percent(positive=True), "This share of the expected points must be there."),
    "warm_up": Key(duration("0s", "7d"), "No idle verdict before this time since launch or resume."),
}
IDLE_DEFAULTS = {"threshold_pct": 5, "window": "1h", "empty_window": "30m", "min_coverage_pct": 80, "warm_up": "30m"}

ORGANIZATION = Record(
    {
        "name": Key(NAME, "As pages and messages show it.", default="My organisation"),
        "currency": Key(CURRENCY, "Used where a thing names none.", default="USD"),
        "time_zone": Key(TIME_ZONE, "In which days and months are cut and dates begin.", default="UTC"),
        "working_hours": Key(
            Record(
                {
                    "days": Key(ListOf(DAYS, least=1), "Working days.", required=True),
                    "from": Key(CLOCK, "Start of the day.", required=True),
                    "to": Key(CLOCK, "End of the day.", required=True),
                }
            ),
            "When destroying acts and approvals may happen.",
        ),
        "holidays": Key(ListOf(DAY), "Days that are no working days."),
        "hours_per_month": Key(decimal(positive=True, most=744, places=2), "For prices per month.", default="730"),
        "idle": Key(
            Record(
                {
                    **{name: Key(key.type, key.about, default=IDLE_DEFAULTS[name]) for name, key in IDLE.items()},
                    "valid_from": Key(MOMENT, "Since when a changed rule holds; without it, since the apply."),
                }
            ),
            "The idle rule of GPU-hours, waste and reports, and of instances without a policy.",
        ),
    }
)
