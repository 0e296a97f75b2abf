"""Sources and data health: what is seen, what isn't, and what to do about it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from alerts.queries.channel_health import channels_health
from common.clock import real_now
from config.doctor import Check, examine
from config.pages.remedies import remedies
from fleet.queries.data_health import SourceDay, account_rows, source_days, unseen_nodes
from fleet.queries.health import JobHealth
from fleet.queries.inventory import contested_hosts
from fleet.queries.runs import latest_runs
from fleet.queries.source_detail import dropped_of, pulls_of, targets_of
from people.actions.audit import record
from people.roles import Right
from people.visitor import Visitor, signed_in

NODES_ON_PAGE = 100


@require_safe
@signed_in
def sources(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show what is seen. Who sees some teams only is told of freshness and of their own machines."""
    return _page(request, visitor)


@never_cache
@require_POST
@signed_in
def check_sources(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Ask every source, account and channel now, as `doctor` does, and show what they say."""
    if not visitor.can(Right.MANAGE_SETTINGS):
        return render(request, "403.html", status=403)
    now = real_now()
    checks = examine(now=visitor.now)
    failed = [f"{check.check} {check.subject}".strip() for check in checks if not check.ok]
    record(
        now=now, by=visitor.user.email, action="check_sources", subject_kind="installation", subject="doctor",
        checks=len(checks), failed=failed[:50],
    )  # fmt: skip
    return _page(request, visitor, checks=checks)


@require_safe
@signed_in
def source(request: HttpRequest, visitor: Visitor, name: str) -> HttpResponse:
    """Show one source with its targets and pulls; for those who see everything."""
    found = source_days(visitor.now, name) if visitor.sees_all else []
    if not found:
        raise Http404
    one = found[0]
    context = {
        "nav": "sources", "visitor": visitor, "source": one, "lag": one.lag(visitor.now),
        "is_late": one.is_late(visitor.now), "targets": targets_of(name), "pulls": pulls_of(name),
        "dropped": dropped_of(name, visitor.now), "auth": ", ".join(one.spec.get("auth") or ()),
    }  # fmt: skip
    return render(request, "config/source.html", context)


def _page(request: HttpRequest, visitor: Visitor, checks: list[Check] | None = None) -> HttpResponse:
    days = [one for one in source_days(visitor.now) if one.kind != "activity"]
    enabled = [one for one in days if one.is_enabled]
    nodes = unseen_nodes(visitor.everything, visitor.now)
    context: dict[str, Any] = {
        "nav": "sources", "visitor": visitor, "checks": checks,
        "days": [{"row": one, "lag": one.lag(visitor.now), "is_late": one.is_late(visitor.now)} for one in days],
        "nodes": nodes[:NODES_ON_PAGE], "more_nodes": max(0, len(nodes) - NODES_ON_PAGE), "unseen": len(nodes),
        "missing": sum(max(0, (node.expected or node.seen) - node.seen) for node in nodes),
        "oldest": max((lag for one in enabled if (lag := one.lag(visitor.now)) is not None), default=None),
        "newest": min((lag for one in enabled if (lag := one.lag(visitor.now)) is not None), default=None),
    }  # fmt: skip
    if visitor.sees_all:
        context |= _whole(enabled, visitor.now, visitor.house.is_replaying)
    return render(request, "config/sources.html", context)


def _whole(days: list[SourceDay], now: datetime, is_replaying: bool) -> dict[str, Any]:
    """Give what only those see who see everything: counts over all teams, accounts, jobs, channels."""
    read = [one.coverage_pct for one in days if one.coverage_pct is not None]
    runs, channels = latest_runs(), channels_health(now)
    contested = sorted(contested_hosts(now))
    jobs = [JobHealth(run.name, run.shard, run.ok_at, run.failures) for run in runs]
    return {
        "seen": sum(one.gpus for one in days), "silent": sum(one.silent for one in days),
        "coverage": sum(read) / len(read) if read else None, "accounts": account_rows(), "runs": runs,
        "channels": channels, "contested": contested,
        "axis": [now - timedelta(hours=hours) for hours in (24, 18, 12, 6, 0)],
        "remedies": remedies(days, jobs, channels, contested, now=now, is_replaying=is_replaying),
    }  # fmt: skip
