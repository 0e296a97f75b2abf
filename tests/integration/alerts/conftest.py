"""Alerts, channels and people that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from alerts.domain.occurrence import Occurrence
from alerts.models import Channel, Route

NOON = datetime(2025, 6, 3, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _generic_words(settings: Any) -> None:
    """Findings have words of their own; what is tested here does not depend on them."""
    settings.ALERT_RENDERERS = {}


@pytest.fixture
def now() -> datetime:
    return NOON


@pytest.fixture
def occurrence() -> Callable[..., Occurrence]:
    def make(**given: Any) -> Occurrence:
        values: dict[str, Any] = {
            "rule": "idle", "kind": "idle", "subject_kind": "instance", "subject": "i-1", "account": "lab",
            "team_id": None, "owner": "dev@example.com", "episode": "2025-06-03T11:00:00Z",
            "facts": {"since": "2025-06-03T11:00:00Z"},
        }  # fmt: skip
        return Occurrence(**{**values, **given})

    return make


@pytest.fixture
def declare() -> Callable[..., None]:
    """Declare channels ({name: (kind, spec)}) and routes ((match, channels, fallback))."""

    def make(
        channels: dict[str, tuple[str, dict[str, Any]]], *routes: tuple[dict[str, Any], list[str], list[str]]
    ) -> None:
        for name, (kind, spec) in channels.items():
            Channel.objects.create(name=name, kind=kind, spec=spec)
        for position, (match, names, fallback) in enumerate(routes):
            Route.objects.create(position=position, match=match, channels=names, fallback=fallback)

    return make
