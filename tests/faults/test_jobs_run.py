"""Beat, broker and worker together: every periodic job leaves its row, and goes on after a kill of the worker."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from config.schedule import JOBS
from tests.support.installation import Installation, supervised
from tests.support.processes import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("make_run")]


def test_every_job_runs_at_start_and_again_after_a_kill(tmp_path: Path) -> None:
    installation = Installation(tmp_path / "var")
    log = tmp_path / "log"

    def good_runs() -> dict[str, object]:
        rows = installation.sql("SELECT name, max(started_at) FROM fleet_jobrun WHERE ok_at IS NOT NULL GROUP BY name")
        return {str(name): at for name, at in rows}

    with supervised(installation, log):
        wait_until(lambda: {job.name for job in JOBS} <= set(good_runs()), seconds=60, what="a run of every job")
        os.kill(installation.pids("config.serve worker")[0], signal.SIGKILL)
        before = good_runs()["deliver"]
        wait_until(lambda: good_runs()["deliver"] != before, seconds=60, what="another run of deliver")
    assert "level=error" not in log.read_text()
    installation.wait_until_empty(1)
