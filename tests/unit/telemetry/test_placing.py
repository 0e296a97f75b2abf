"""Where a device stood and who held it: one label set is the usual case, and says the same as the general rule."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.domain.exporters import DIALECTS
from fleet.domain.placing import all_points, host_runs, owner_runs
from fleet.domain.runs import Run
from fleet.domain.series import Owner
from fleet.domain.telemetry import RawSeries

AT = np.array([30.0, 60.0, 90.0])


def series(labels: dict[str, str], seen: np.ndarray = AT) -> RawSeries:
    return RawSeries(0, DIALECTS[0], labels, "dcgm/n1:9400", seen, seen)


@pytest.mark.parametrize("others", [[], [series({"hostname": "n1"}, AT[:0])]])
def test_one_label_set(others: list[RawSeries]) -> None:
    found = [series({"hostname": "N1", "hpc_job": "7"}), *others]
    assert host_runs(found, {}) == [Run("n1", 30.0, None)]
    assert owner_runs(found, {}, all_points(found), 30.0) == [Run(Owner("slurm", "7"), 30.0, None)]


@pytest.mark.parametrize("others", [[], [series({})]])
def test_a_device_that_no_label_places_stands_nowhere(others: list[RawSeries]) -> None:
    found = [series({}), *others]
    assert host_runs(found, {}) == []
    assert owner_runs(found, {}, all_points(found), 30.0) == []
