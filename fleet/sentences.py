"""Facts in, translated words out: verdicts and findings as sentences. Nothing that is said here is ever stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.periods import parse_moment
from common.words import sentences
from fleet.domain.states import FindingKind, Reason, State

Facts = Mapping[str, Any]


def verdict_sentence(facts: Facts) -> str:
    """Say what an instance or job does and what that was seen from.

    ``facts``: state, reason, since, minutes, gpus, peak_pct, mean_pct, window_minutes, coverage_pct, memory, idle_cost,
    price_per_hour, currency, at, zone (a tzinfo for its times; UTC without one); what is missing or None is left out or
    said to be unknown.
    """
    state = facts.get("state")
    if state in (State.HELD, State.EMPTY):
        return _idle_sentence(facts)
    if state == State.WORKING:
        return _working(facts)
    return reason_sentence(str(facts.get("reason") or ""), facts)


def proof_sentence(facts: Facts) -> str:
    """Say what an idle verdict rests on, where since when and what it costs stand beside; else what it is."""
    if facts.get("state") not in (State.HELD, State.EMPTY):
        return verdict_sentence(facts)
    return _("Peak %(peak)s of %(gpus)s over %(window)s, coverage %(coverage)s, %(memory)s.") % _seen_words(facts)


def reason_sentence(reason: str, facts: Facts | None = None) -> str:
    """Say why a verdict is what it is."""
    known = facts or {}
    words = {
        Reason.BUSY: _("It worked within the window."),
        Reason.BUSY_NOW: _("It works now; its window is not covered."),
        Reason.TOO_EARLY: _("Quiet so far, but too early to say: it started not long ago."),
        Reason.QUIET_MEMORY_HELD: _("Idle: every signal is quiet, and memory is held."),
        Reason.QUIET_MEMORY_UNKNOWN: _("Idle: every signal is quiet; memory unknown, so it counts as held."),
        Reason.QUIET_EMPTY: _("Idle: every signal is quiet and no memory is held."),
        Reason.NO_DATA: _("It can't be seen: no sample in the window."),
        Reason.STALE: _("It can't be seen: the newest sample is too old."),
        Reason.LOW_COVERAGE: _("It can't be seen well enough: too many samples of the window are missing."),
        Reason.GAP_IN_WINDOW: _("It can't be seen well enough: the samples of the window have a gap."),
        Reason.NO_ACTIVITY_SIGNAL: _("It can't be told: its samples hold no signal of activity."),
        Reason.NO_BASELINE: _("It can't be told: this card needs a power baseline that is not learned yet."),
        Reason.FEWER_DEVICES: _("It can't be told: fewer GPUs report than the machine has."),
        Reason.HOST_CLAIMED_TWICE: _("It can't be told: two running instances claim this host."),
        Reason.INVENTORY_DISAGREES: _("It can't be told: number or model of its GPUs differ from the inventory."),
        Reason.NOT_RUNNING: _("It does not run, by its provider's word."),
        Reason.JUST_STARTED: _("It started a short time ago and is left alone while it warms up."),
        Reason.NEVER_SEEN: _("It can't be seen: no telemetry shows a GPU of it."),
    }
    text = words.get(Reason(reason)) if reason in set(Reason) else None
    coverage = known.get("coverage_pct")
    if text and coverage is not None and reason in (Reason.LOW_COVERAGE, Reason.GAP_IN_WINDOW, Reason.STALE):
        return sentences(text, _("Coverage is %(coverage)s.") % {"coverage": percent_text(coverage)})
    return text or _("It can't be told.")


def _idle_sentence(facts: Facts) -> str:
    pattern = _(
        "Idle since %(since)s (%(length)s): peak %(peak)s of %(gpus)s over %(window)s, coverage %(coverage)s,"
        " %(memory)s."
    )
    words = {
        "since": time_text(facts.get("since"), facts.get("at"), facts.get("zone")),
        "length": length_text(facts.get("minutes")),
    }
    return sentences(pattern % (words | _seen_words(facts)), money_sentence(facts))


def _seen_words(facts: Facts) -> dict[str, str]:
    return {
        "peak": percent_text(facts.get("peak_pct")),
        "gpus": gpus_text(facts.get("gpus")),
        "window": length_text(facts.get("window_minutes")),
        "coverage": percent_text(facts.get("coverage_pct")),
        "memory": memory_text(facts.get("memory")),
    }


def _working(facts: Facts) -> str:
    if facts.get("reason") in (Reason.TOO_EARLY, Reason.BUSY_NOW) or facts.get("mean_pct") is None:
        return reason_sentence(str(facts.get("reason") or ""), facts)
    return _("Working: mean %(mean)s, peak %(peak)s of %(gpus)s over %(window)s, coverage %(coverage)s.") % {
        "mean": percent_text(facts.get("mean_pct")),
        "peak": percent_text(facts.get("peak_pct")),
        "gpus": gpus_text(facts.get("gpus")),
        "window": length_text(facts.get("window_minutes")),
        "coverage": percent_text(facts.get("coverage_pct")),
    }


def next_sentence(what: str, at: str | None, zone: tzinfo | None = None) -> str:
    """Say what happens next to an instance, times in ``zone`` (None: UTC)."""
    time = {"at": time_text(at, zone=zone)}
    words = {
        "judged_again_when_it_starts": _("It is judged again when it starts."),
        "idle_until_two_busy_samples_in_a_row": _(
            "It stays idle until two samples in a row are busy, or it starts anew."
        ),
        "known_again_when_its_window_is_covered": _("It is judged again when its window is covered by samples."),
        "warm_up_ends": _("Its warm-up ends at %(at)s.") % time,
        "idle_at_the_earliest_if_quiet_from_now_on": _("If it stays quiet from now on, it is idle at %(at)s.") % time,
    }
    return words.get(what, "")


def money_sentence(facts: Facts) -> str:
    """Say what it cost so far and costs per hour; an unknown price is said to be unknown, never 0."""
    if facts.get("price_per_hour") is None:
        return _("Its price is not known.")
    words = {
        "cost": facts.get("idle_cost"),
        "price": facts.get("price_per_hour"),
        "currency": facts.get("currency") or "",
    }
    if words["cost"] is None:
        return _("%(price)s %(currency)s per hour.") % words
    return _("%(cost)s %(currency)s so far, %(price)s %(currency)s per hour.") % words


def percent_text(value: Any) -> str:
    """Write a percentage, one decimal at most; unknown is said."""
    if value is None:
        return _("unknown")
    number = float(value)
    shown = f"{number:.1f}".rstrip("0").rstrip(".") if number >= 0.05 or number == 0 else f"{number:.2f}"
    return f"{shown} %"


def length_text(minutes: Any) -> str:
    """Write a length of time: 45 min, 5 h, 4 h 50 min, 3 d 2 h."""
    if minutes is None:
        return _("unknown")
    total = int(float(minutes))
    days, hours, rest = total // 1440, total // 60, total % 60
    if total < 60 or total == 60:
        return _("%(minutes)d min") % {"minutes": total}
    if days >= 2:
        hours_left = hours - days * 24
        if hours_left:
            return _("%(days)d d %(hours)d h") % {"days": days, "hours": hours_left}
        return _("%(days)d d") % {"days": days}
    if rest:
        return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": rest}
    return _("%(hours)d h") % {"hours": hours}


def time_text(since: Any, at: Any = None, zone: tzinfo | None = None) -> str:
    """Write a time in ``zone`` (None: UTC), which is named; with its day unless that is the day of ``at`` there."""
    if not since:
        return _("unknown")
    moment = parse_moment(str(since)).astimezone(zone or UTC)
    if at and parse_moment(str(at)).astimezone(zone or UTC).date() == moment.date():
        return f"{moment:%H:%M %Z}"
    return f"{moment:%Y-%m-%d %H:%M %Z}"


def gpus_text(count: Any) -> str:
    """Write a number of GPUs."""
    number = int(count or 0)
    return ngettext("%(count)d GPU", "%(count)d GPUs", number) % {"count": number}


def memory_text(memory: Any) -> str:
    """Say whether memory is held."""
    if memory == "held":
        return _("memory held")
    return _("memory empty") if memory == "empty" else _("memory unknown")


def render(kind: str, facts: Facts) -> dict[str, Any]:
    """Give title, sentence, lines and link of a finding's message from its facts."""
    name = str(facts.get("subject") or "")
    title, sentence = _FINDINGS.get(kind, _any)(name, facts)
    return {"title": title, "sentence": sentence, "lines": _lines(facts), "link": facts.get("link") or "/"}


def _idle(name: str, facts: Facts) -> tuple[str, str]:
    return _("%(name)s is idle") % {"name": name}, _idle_sentence(facts)


def _hang(name: str, facts: Facts) -> tuple[str, str]:
    words = {
        "since": time_text(facts.get("since"), facts.get("at"), facts.get("zone")),
        "length": length_text(facts.get("minutes")),
        "power": _number(facts.get("power_watts")),
        "limit": _number(facts.get("power_limit_watts")),
    }
    sentence = _(
        "Since %(since)s (%(length)s) its GPUs show full utilisation while nothing is computed and at most %(power)s W"
        " of %(limit)s W flow. It is never stopped for this: look at its logs first."
    )
    return _("%(name)s may hang") % {"name": name}, sentences(sentence % words, money_sentence(facts))


def _lost(name: str, facts: Facts) -> tuple[str, str]:
    words = {"since": time_text(facts.get("since"), zone=facts.get("zone")), "host": facts.get("host") or _("its host")}
    sentence = _("Nothing was seen of it since %(since)s, while other GPUs of %(host)s report.") % words
    return _("GPU %(name)s is lost") % {"name": name}, sentence


def _down(name: str, facts: Facts) -> tuple[str, str]:
    words = {"since": time_text(facts.get("since"), zone=facts.get("zone")), "source": facts.get("source") or ""}
    sentence = _("Source %(source)s can't scrape it since %(since)s; its GPUs are shown as unknown.") % words
    return _("Target %(name)s is down") % {"name": name}, sentence


def _low(name: str, facts: Facts) -> tuple[str, str]:
    words = {
        "mean": percent_text(facts.get("mean_pct")),
        "p95": percent_text(facts.get("p95_pct")),
        "hours": _number(facts.get("gpu_hours")),
        "days": facts.get("days") or 7,
    }
    sentence = _(
        "Mean utilisation of %(mean)s over %(hours)s GPU-hours in %(days)s days; 95 %% of the time below %(p95)s."
    )
    return _("%(name)s uses little of its GPUs") % {"name": name}, sentence % words


def _partly(name: str, facts: Facts) -> tuple[str, str]:
    unused = facts.get("unused") or []
    words = {
        "unused": len(unused),
        "gpus": gpus_text(facts.get("gpus")),
        "since": time_text(facts.get("since"), zone=facts.get("zone")),
    }
    sentence = _("%(unused)s of its %(gpus)s hold nothing and do nothing since %(since)s, while others work.") % words
    return _("%(name)s leaves GPUs unused") % {"name": name}, sentence


def _unassigned(name: str, _facts: Facts) -> tuple[str, str]:
    sentence = _("No ownership rule gives it to a team; its cost is unassigned.")
    return _("%(name)s has no team") % {"name": name}, sentence


def _unknown_host(name: str, facts: Facts) -> tuple[str, str]:
    why = {
        "no_account": _("Telemetry shows its GPUs, but no account knows this host."),
        "claimed_twice": _("Two running instances claim this host, so what its GPUs do has no owner."),
        "disagrees": _("Number or model of its GPUs differ from what its account says."),
    }
    return _("%(name)s does not fit the inventory") % {"name": name}, why.get(str(facts.get("why")), "")


def _any(name: str, _facts: Facts) -> tuple[str, str]:
    return _("%(name)s needs a look") % {"name": name}, ""


_FINDINGS: dict[str, Callable[[str, Facts], tuple[str, str]]] = {
    FindingKind.IDLE: _idle,
    FindingKind.SUSPECTED_HANG: _hang,
    FindingKind.GPU_LOST: _lost,
    FindingKind.TARGET_DOWN: _down,
    FindingKind.LOW_UTILIZATION: _low,
    FindingKind.PARTLY_USED: _partly,
    FindingKind.UNASSIGNED: _unassigned,
    FindingKind.UNKNOWN_HOST: _unknown_host,
}


def _number(value: Any) -> str:
    return _("unknown") if value is None else f"{float(value):.1f}".rstrip("0").rstrip(".")


def _lines(facts: Facts) -> list[tuple[str, str]]:
    """The facts that people look for, one line each; what is not known is left out."""
    price, currency = facts.get("price_per_hour"), facts.get("currency")
    shown: list[tuple[str, str | None]] = [
        (_("Since"), time_text(facts["since"], zone=facts.get("zone")) if facts.get("since") else None),
        (_("How long"), length_text(facts["minutes"]) if facts.get("minutes") is not None else None),
        (_("Highest activity"), percent_text(facts["peak_pct"]) if facts.get("peak_pct") is not None else None),
        (_("Coverage"), percent_text(facts["coverage_pct"]) if facts.get("coverage_pct") is not None else None),
        (_("Cost so far"), f"{facts['idle_cost']} {currency}" if facts.get("idle_cost") is not None else None),
        (_("Cost per hour"), f"{price} {currency}" if price is not None else None),
        (_("Team"), facts.get("team")),
        (_("Owner"), facts.get("owner")),
    ]
    return [(label, str(value)) for label, value in shown if value]
