"""OpenMetrics text of made-up GPUs, for promtool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


def labels_text(labels: Mapping[str, str]) -> str:
    """Write a label set."""
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


def uuid(number: int) -> str:
    """Give the UUID of the n-th made-up GPU."""
    return f"GPU-00000000-0000-0000-0000-{number:012x}"


@dataclass
class History:
    """Collects series; `text()` is what promtool reads."""

    series: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, labels: Mapping[str, str], points: Iterable[tuple[float, float | str]]) -> History:
        """Add points (epoch seconds, value) of one series."""
        head = f"{name}{{{labels_text(labels)}}}"
        self.series.setdefault(name, []).extend(f"{head} {value} {at:.3f}" for at, value in points)
        return self

    def gpu(
        self,
        number: int,
        times: Iterable[float],
        value: float | str,
        *,
        name: str = "DCGM_FI_DEV_GPU_UTIL",
        **labels: str,
    ) -> History:
        """Add a DCGM series of the n-th GPU with one value at all ``times``; a label set to "" is left out."""
        usual = {
            "gpu": str(number % 8),
            "UUID": uuid(number),
            "Hostname": "node-1",
            "job": "dcgm",
            "instance": "node-1:9400",
        }
        kept = {key: text for key, text in {**usual, **labels}.items() if text}
        return self.add(name, kept, ((at, value) for at in times))

    def text(self) -> str:
        """Give OpenMetrics text, metric after metric."""
        lines: list[str] = []
        for name, points in self.series.items():
            lines += [f"# TYPE {name} gauge", *points]
        return "\n".join([*lines, "# EOF"]) + "\n"


def every(seconds: float, since: float, until: float) -> list[float]:
    """Give times from ``since`` to ``until``, both inclusive."""
    return [since + i * seconds for i in range(int((until - since) / seconds + 1e-9) + 1)]
