"""What prices look at. Fleet knows it of an instance; what it costs is for others to say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PriceSubject:
    """What is known of an instance at a time; unknown is empty or None.

    ``gpu_model`` in any of its spellings; ``gpu_count`` counts whole devices.
    """

    provider: str = ""
    sku: str = ""
    gpu_model: str = ""
    gpu_count: int | None = None
    region: str = ""
    purchase_option: str = ""
