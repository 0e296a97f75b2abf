"""What is real and what is the demo's never meet."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse

from common.effects import SIMULATED
from config.pipeline import effects_at
from demo.middleware import NameFiles
from fleet.actions.collect import collect_source
from fleet.models import Gpu, Source
from fleet.queries.sources import metric_sources
from people.models import Team

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)


def test_a_demo_process_reads_no_real_source(db: None, demo_settings: Any) -> None:
    source = Source.objects.create(name="main", kind="prometheus", spec={"url": "http://127.0.0.1:9"})
    assert metric_sources() == []
    result = collect_source(source.pk, now=NOW)
    assert result.error is not None
    assert (result.error.code, result.samples) == ("unknown_kind", 0)


def test_a_real_process_reads_no_demo_source(db: None) -> None:
    source = Source.objects.create(name="demo", kind="demo", spec={"start": "2026-03-01T00:00:00Z"})
    assert metric_sources() == []
    result = collect_source(source.pk, now=NOW)
    assert result.error is not None
    assert result.error.code == "unknown_kind"
    assert not Gpu.objects.exists()


def test_no_file_is_applied_to_the_demo(
    db: None, demo_settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text("teams: [{name: mine}]", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        call_command("apply", str(path), json=True)
    assert ended.value.code == 4
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "demo_database"
    assert not Team.objects.exists()


def test_nothing_leaves_the_demo(demo_settings: Any) -> None:
    assert effects_at(NOW, clock=NOW) is SIMULATED


def test_effects_are_real_elsewhere() -> None:
    assert effects_at(NOW, clock=NOW).kind == "real"


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ('attachment; filename="teams.csv"', 'attachment; filename="DEMO-teams.csv"'),
        ("attachment; filename=teams.csv", "attachment; filename=DEMO-teams.csv"),
        ("attachment; filename*=utf-8''teams%20x.csv", "attachment; filename*=utf-8''DEMO-teams%20x.csv"),
        ('attachment; filename="DEMO-teams.csv"', 'attachment; filename="DEMO-teams.csv"'),
    ],
)
def test_every_file_of_the_demo_says_so(said: str, named: str) -> None:
    answer = NameFiles(lambda _request: HttpResponse(headers={"Content-Disposition": said}))(HttpRequest())
    assert answer.headers["Content-Disposition"] == named
