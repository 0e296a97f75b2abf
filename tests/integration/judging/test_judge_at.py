"""The judge document, from stored samples."""

from __future__ import annotations

import pytest

from fleet.queries.verdicts import judge_at
from fleet.sentences import verdict_sentence
from tests.support.sampled_fleet import NoPrices, at, machine, play

pytestmark = pytest.mark.django_db


def test_smoke() -> None:
    _, (gpu,) = machine("i-burst")
    play(gpu, "07:50", "08:00", interval=600, gpu_util=0)
    play(gpu, "08:00", "09:00", interval=600, gpu_util=92)
    play(gpu, "09:00", "14:00", interval=600, gpu_util=0)
    (found,) = judge_at(at("14:00"), NoPrices(), say=verdict_sentence)
    assert found["state"] == "held", found
    assert found["since"] == "2025-06-03T09:00:00Z"
    assert found["minutes"] == 300
