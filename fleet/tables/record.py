"""Rows of machines as pages show them: plain values, with times counted from the page's time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, Protocol

from django.utils.translation import gettext as _

from common.code_words import word_of
from common.formats import NBSP, percent
from common.money import plain
from common.periods import iso, parse_duration
from common.words import comma, duration
from fleet.charts.activity import ActivityRow
from fleet.domain.idle_cost import cost_of
from fleet.domain.states import IDLE, State
from fleet.queries.behind import JobNow
from fleet.queries.record import GpuNow, Judged
from fleet.sentences import proof_sentence, reason_sentence, verdict_sentence
from people.queries import TeamName

Price = tuple[Decimal, str]  # per hour, currency


def idle_minutes(evidence: Mapping[str, Any], since: datetime | None, at: datetime) -> float | None:
    """Give the covered minutes of an idle machine; before the first pass has counted them, the time since ``since``."""
    counted = evidence.get("minutes")
    if counted is not None:
        return float(counted)
    return (at - since) / timedelta(minutes=1) if since else None


def sentence_of(
    state: str,
    reason: str,
    since: datetime | None,
    evidence: Mapping[str, Any],
    *,
    price: Price | None,
    at: datetime,
    zone: tzinfo,
    is_brief: bool = False,
) -> str:
    """Say in a sentence what a machine does and what that was seen from, in the words that `judge` uses.

    ``is_brief``: since when it is idle and what that costs stand beside the sentence, so it leaves them out.
    """
    minutes = idle_minutes(evidence, since, at) if state in IDLE else None
    money: dict[str, Any] = {"price_per_hour": None, "idle_cost": None, "currency": None}
    if price:
        cost = cost_of(price[0], minutes) if minutes is not None else None
        money = {"price_per_hour": plain(price[0]), "idle_cost": plain(cost), "currency": price[1]}
    facts = {
        "gpus": 0,
        **evidence,
        **money,
        "state": state,
        "reason": reason,
        "minutes": minutes,
        "at": iso(at),
        "zone": zone,
    }
    said = (proof_sentence if is_brief else verdict_sentence)(facts | {"since": iso(since) if since else None})
    return said.replace(" %", f"{NBSP}%")  # a page must not break a line before the sign


@dataclass(frozen=True)
class MachineRow:
    """An idle machine. ``kind``: what it is, like `8 × H100`. ``idle_for`` counts from ``since`` to the page's time."""

    path: str
    name: str
    account: str
    team: str
    kind: str
    state: str
    sentence: str
    since: datetime | None
    idle_for: timedelta | None


def machine_kind(gpu_count: int | None, model: str) -> str:
    """Write `8 × H100`; what is not known is left out."""
    if not gpu_count:
        return model
    return f"{gpu_count} × {model or _('GPU')}"


@dataclass(frozen=True)
class GpuRow:
    """A device of a machine. ``peak_pct`` and ``mean_pct`` are None where nothing was seen."""

    label: str
    uuid: str
    model: str
    state: str
    sentence: str
    quiet_for: timedelta | None
    peak_pct: float | None
    mean_pct: float | None
    coverage_pct: float | None
    seen_ago: timedelta


def gpu_rows(gpus: Iterable[GpuNow], now: datetime) -> list[GpuRow]:
    """Make rows of devices; one that was never judged is unknown."""
    rows = []
    for gpu in gpus:
        verdict = gpu.verdict
        evidence = verdict.evidence if verdict else {}
        rows.append(
            GpuRow(
                label=gpu_label(gpu),
                uuid=gpu.name,
                model=gpu.model,
                state=verdict.state if verdict else State.UNKNOWN,
                sentence=reason_sentence(verdict.reason) if verdict else "",
                quiet_for=now - verdict.since if verdict and verdict.since else None,
                peak_pct=evidence.get("peak_pct"),
                mean_pct=evidence.get("mean_pct"),
                coverage_pct=evidence.get("coverage_pct"),
                seen_ago=now - gpu.last_seen_at,
            )
        )
    return rows


@dataclass(frozen=True)
class HistoryRow:
    """One verdict of the past, with its length."""

    state: str
    sentence: str
    start: datetime
    lasted: timedelta
    is_current: bool


def history_rows(history: Iterable[Judged], now: datetime) -> list[HistoryRow]:
    """Make rows of verdicts, newest first."""
    return [
        HistoryRow(one.state, reason_sentence(one.reason), one.start, (one.end or now) - one.start, one.end is None)
        for one in history
    ]


@dataclass(frozen=True)
class PolicyRow:
    """One number of the idle rule. ``source``: where it comes from, in words."""

    label: str
    value: str
    source: str


def policy_rows(policy: Mapping[str, Any]) -> list[PolicyRow]:
    """Make rows of the rule that `explain` prints."""
    labels = {
        "threshold_pct": _("Quiet below"),
        "window": _("Quiet for"),
        "empty_window": _("Quiet for, memory empty"),
        "min_coverage_pct": _("Coverage needed"),
        "warm_up": _("Warm-up"),
        "scope": _("Judged by"),
    }
    sources = {"organization": _("organisation"), "default": _("default")}
    rows = []
    for key, label in labels.items():
        one = policy["values"][key]
        value = _policy_value(key, one["value"])
        rows.append(PolicyRow(label, value, sources.get(one["from"]) or _policy_source(one["from"])))
    return rows


def _policy_source(source: str) -> str:
    return _("policy %(name)s") % {"name": source.removeprefix("policy ")}


def _policy_value(key: str, value: Any) -> str:
    if key == "scope":
        return word_of("scope", str(value))
    if key.endswith("_pct"):
        return f"{value}\u00a0%"
    return duration(parse_duration(str(value)))


@dataclass(frozen=True)
class JobRow:
    """A job that holds GPUs of the machine. ``name`` is empty for one of a team that may not be seen."""

    name: str
    owner: str
    team: str
    state: str | None
    gpus: int
    ran_for: timedelta


def job_rows(
    jobs: Iterable[JobNow], teams: Mapping[int, TeamName], sees: Callable[[int | None], bool], now: datetime
) -> list[JobRow]:
    """Make rows of the jobs that ``sees`` allows; of another team's not even the number is told (rule 9)."""
    rows = []
    for job in jobs:
        if sees(job.team_id):
            team = teams.get(job.team_id or 0)
            name = team.name if team else _("Unassigned")
            rows.append(JobRow(job.name, job.owner, name, job.state, job.gpus, now - job.started_at))
    return rows


class Active(Protocol):
    """A GPU with what it did, whether read for a verdict or for a picture."""

    @property
    def gpu(self) -> Any:
        """The device: `index`, `mig_instance`."""

    @property
    def peaks(self) -> Sequence[float | None]:
        """The highest activity at each point."""

    @property
    def highest(self) -> float | None:
        """The highest of them."""


def activity_rows(gpus: Iterable[Active], limit: int) -> list[ActivityRow]:
    """Make rows of the picture: all GPUs in their order, or the ``limit`` busiest ones of a machine with more."""
    listed = list(gpus)
    if len(listed) > limit:
        listed = sorted(listed, key=lambda one: -(one.highest if one.highest is not None else -1.0))[:limit]
    return [
        ActivityRow(gpu_label(one.gpu), one.peaks, _("max %(share)s") % {"share": percent(one.highest)})
        for one in listed
    ]


def gpu_label(gpu: Any) -> str:
    """Name a device as its machine numbers it."""
    label = _("GPU") if gpu.index is None else f"GPU {gpu.index}"
    return f"{label}/{gpu.mig_instance}" if gpu.mig_instance else label


def rule_text(matched: tuple[int, Mapping[str, Any]] | None) -> str:
    """Say which ownership rule gives a machine its team, "" for none."""
    if matched is None:
        return ""
    position, rule = matched
    conditions = [f"{key}: {_globs(value)}" for key, value in (rule.get("match") or {}).items()]
    source = rule.get("team_from") or {}
    conditions += [f"team_from {kind}: {name}" for kind, name in source.items()]
    words = {"number": position + 1, "what": comma().join(conditions) or _("everything")}
    return _("rule %(number)d (%(what)s)") % words


def _globs(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_globs(one)}" for name, one in value.items())
    return str(value) if isinstance(value, str) else " | ".join(str(one) for one in value)
