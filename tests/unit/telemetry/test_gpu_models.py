from __future__ import annotations

import pytest

from fleet.domain.gpu_models import board, canonical, slice_memory_mib


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("NVIDIA-A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("A100-SXM-80GB", "A100-SXM4-80GB"),
        ("nvidia a100 80gb pcie", "A100-PCIe-80GB"),
        ("NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"),
        ("H100-SXM5-80GB", "H100-SXM5-80GB"),
        ("NVIDIA H100 PCIe", "H100-PCIe-80GB"),
        ("NVIDIA H200", "H200-SXM-141GB"),
        ("NVIDIA GeForce RTX 4090", "RTX-4090-24GB"),
        ("Tesla V100-SXM2-16GB", "V100-SXM2-16GB"),
        ("Aqua Vanjaram [Instinct MI300X VF]", "MI300X-192GB"),
        ("NVIDIA GB10", "NVIDIA GB10"),
        ("", ""),
    ],
)
def test_one_model_has_one_name(written: str, model: str) -> None:
    assert canonical(written) == model


def test_boards_and_slices() -> None:
    found = board("NVIDIA H100 80GB HBM3")
    assert found is not None
    assert (found.memory_total_mib, found.power_limit_watts) == (81_559, 700)
    assert board("NVIDIA GB10") is None
    assert [slice_memory_mib(profile) for profile in ("3g.40gb", "1c.3g.40gb", "1g.10gb", "")] == [
        40960,
        40960,
        10240,
        None,
    ]
