"""Model names of GPUs: many spellings, one model; with the memory and power limit of its board.

Exporters say "NVIDIA A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB" or "nvidia a100-sxm4-80gb"; price lists say
"A100-SXM-80GB". `canonical` gives the one name that we keep and compare by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Board:
    """A board as sold: memory that the driver shows (MiB, approximate) and the default power limit in watts."""

    name: str
    memory_total_mib: int
    power_limit_watts: int


BOARDS: tuple[Board, ...] = (
    Board("GB300-288GB", 284_208, 1400),
    Board("GB200-186GB", 189_471, 1200),
    Board("B300-288GB", 275_040, 1100),
    Board("B200-180GB", 183_359, 1000),
    Board("GH200-96GB", 97_871, 900),
    Board("H200-SXM-141GB", 143_771, 700),
    Board("H200-NVL-141GB", 143_771, 600),
    Board("H100-SXM5-80GB", 81_559, 700),
    Board("H100-PCIe-80GB", 81_559, 350),
    Board("H100-NVL-94GB", 95_830, 400),
    Board("A100-SXM4-80GB", 81_920, 400),
    Board("A100-SXM4-40GB", 40_960, 400),
    Board("A100-PCIe-80GB", 81_920, 300),
    Board("A100-PCIe-40GB", 40_960, 250),
    Board("L40S-48GB", 46_068, 350),
    Board("L40-48GB", 46_068, 300),
    Board("L4-24GB", 23_034, 72),
    Board("A40-48GB", 46_068, 300),
    Board("A10G-24GB", 23_028, 300),
    Board("A10-24GB", 23_028, 150),
    Board("RTX-PRO-6000-96GB", 97_887, 600),
    Board("RTX-A6000-48GB", 49_140, 300),
    Board("RTX-5090-32GB", 32_607, 575),
    Board("RTX-4090-24GB", 24_564, 450),
    Board("RTX-3090-24GB", 24_576, 350),
    Board("V100-SXM2-32GB", 32_768, 300),
    Board("V100-SXM2-16GB", 16_384, 300),
    Board("V100-PCIe-32GB", 32_768, 250),
    Board("V100-PCIe-16GB", 16_384, 250),
    Board("T4-16GB", 15_360, 70),
    Board("MI355X-288GB", 294_896, 1400),
    Board("MI325X-256GB", 262_128, 1000),
    Board("MI300X-192GB", 196_592, 750),
    Board("MI250X-128GB", 131_056, 560),
)
_BY_NAME = {board.name: board for board in BOARDS}

_SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"gb300", "GB300-288GB"),
    (r"gb200", "GB200-186GB"),
    (r"b300", "B300-288GB"),
    (r"b200", "B200-180GB"),
    (r"gh200( 480gb| 96gb)?", "GH200-96GB"),
    (r"h200 nvl( 141gb)?", "H200-NVL-141GB"),
    (r"h200( sxm5?)?( 141gb)?( hbm3e)?", "H200-SXM-141GB"),
    (r"h100 nvl( 94gb)?", "H100-NVL-94GB"),
    (r"h100 pcie( 80gb)?|h100 80gb pcie", "H100-PCIe-80GB"),
    (r"h100( sxm5?)?( 80gb)?( hbm3)?", "H100-SXM5-80GB"),
    (r"a100 (80gb pcie|pcie?( e)? 80gb)", "A100-PCIe-80GB"),
    (r"a100 (40gb pcie|pcie?( e)? 40gb)", "A100-PCIe-40GB"),
    (r"a100( sxm4?)? 40gb", "A100-SXM4-40GB"),
    (r"a100( sxm4?)? 80gb", "A100-SXM4-80GB"),
    (r"l40s( 48gb)?", "L40S-48GB"),
    (r"l40( 48gb)?", "L40-48GB"),
    (r"l4( 24gb)?", "L4-24GB"),
    (r"a40( 48gb)?", "A40-48GB"),
    (r"a10g( 24gb)?", "A10G-24GB"),
    (r"a10( 24gb)?", "A10-24GB"),
    (r"rtx pro 6000( blackwell.*)?( 96gb)?", "RTX-PRO-6000-96GB"),
    (r"rtx a6000( 48gb)?", "RTX-A6000-48GB"),
    (r"rtx 5090( 32gb)?", "RTX-5090-32GB"),
    (r"rtx 4090( 24gb)?", "RTX-4090-24GB"),
    (r"rtx 3090( 24gb)?", "RTX-3090-24GB"),
    (r"v100( sxm[23])? 32gb", "V100-SXM2-32GB"),
    (r"v100( sxm[23])? 16gb", "V100-SXM2-16GB"),
    (r"v100 pcie 32gb", "V100-PCIe-32GB"),
    (r"v100 pcie 16gb", "V100-PCIe-16GB"),
    (r"t4( 16gb)?", "T4-16GB"),
    (r".*mi355x.*", "MI355X-288GB"),
    (r".*mi325x.*", "MI325X-256GB"),
    (r".*mi300x.*", "MI300X-192GB"),
    (r".*mi250x.*", "MI250X-128GB"),
)
_COMPILED = tuple((re.compile(pattern), name) for pattern, name in _SPELLINGS)
_NOISE = re.compile(r"\b(nvidia|tesla|geforce|amd|instinct|gpu|corporation)\b")


@lru_cache(maxsize=1024)
def canonical(name: str) -> str:
    """Give the one name of a model; an unknown one is kept as it is written (trimmed)."""
    text = name.strip()
    if text in _BY_NAME or not text:
        return text
    plain = " ".join(_NOISE.sub(" ", re.sub(r"[\s_-]+", " ", text.lower())).split())
    for pattern, model in _COMPILED:
        if pattern.fullmatch(plain):
            return model
    return text


def board(name: str) -> Board | None:
    """Give the catalogue's entry of a model, by any of its spellings."""
    return _BY_NAME.get(canonical(name))


_PROFILE = re.compile(r"\d+(?:c\.\d+)?g\.(\d+)gb")


def slice_memory_mib(profile: str) -> int | None:
    """Give the memory of a MIG slice from its profile ("3g.40gb"), in MiB; None when the text says none."""
    found = _PROFILE.match(profile.strip().lower())
    return int(found[1]) * 1024 if found else None
