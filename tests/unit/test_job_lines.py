"""Names of the lines in a job's picture: short enough for its margin, and by what tells machines apart."""

from __future__ import annotations

import pytest

from fleet.queries.trace import Traced, TracedGpu
from fleet.tables.places import traced_rows


def labels(*machines: str) -> list[str]:
    gpus = [Traced(TracedGpu(n, None, name, "", []), None, [], 5.0) for n, name in enumerate(machines)]
    return [row.label for row in traced_rows(gpus, 16)]


@pytest.mark.parametrize(
    ("machines", "named"),
    [
        (("aws-vis-01", "aws-vis-01"), ["GPU 0", "GPU 1"]),
        (("cw-fnd-01", "cw-fnd-01", "cw-fnd-12"), ["01 0", "01 1", "12 0"]),
        (("node1", "node11"), ["1 0", "11 0"]),
        (("alpha-trainer-01", "beta-trainer-02"), ["…r-01 0", "…r-02 0"]),
    ],
)
def test_lines_are_named_by_what_tells_machines_apart(machines: tuple[str, ...], named: list[str]) -> None:
    assert labels(*machines) == named
