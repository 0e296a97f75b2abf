"""What needs a hand: nothing is late and no job is due while the world is replayed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from config.pages.remedies import remedies
from fleet.models import Source
from fleet.queries.data_health import source_days
from fleet.queries.health import JobHealth
from tests.support.page_data import company

pytestmark = pytest.mark.django_db
NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("is_replaying", "told"), [(False, True), (True, False)])
def test_jobs_and_late_sources(is_replaying: bool, told: bool) -> None:
    company()
    Source.objects.update(collected_until=NOW - timedelta(hours=9))
    runs = [JobHealth("collect", "", NOW - timedelta(hours=9), 0)]
    titles = [one.title for one in remedies(source_days(NOW), runs, [], [], now=NOW, is_replaying=is_replaying)]
    assert any("does not complete" in title for title in titles) is told
    assert any("is late" in title for title in titles) is told
