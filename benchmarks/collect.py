"""`collect` of one mark from a real Prometheus with 10,000 GPUs, beside a bare HTTP fetch of the same answers.

The fleet: 1,250 hosts with 8 GPUs, the metrics that a DCGM exporter has by default, half an hour at 30 s. It is
made once (some minutes) and kept in the temporary folder. ``FL_BENCH_GPUS`` changes the number of GPUs.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import requests

from tests.support.gpu_history import every, labels_text, uuid
from tests.support.processes import free_port, require_program, running, wait_until

GPUS = int(os.environ.get("FL_BENCH_GPUS", "10000"))
LAST = datetime(2025, 6, 3, 11, 0, tzinfo=UTC)
MINUTES, ROUNDS = 30, 5
METRICS = {
    "DCGM_FI_DEV_GPU_UTIL": (0, 100),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": (0, 1),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": (0, 1),
    "DCGM_FI_PROF_DRAM_ACTIVE": (0, 1),
    "DCGM_FI_DEV_ENC_UTIL": (0, 0),
    "DCGM_FI_DEV_DEC_UTIL": (0, 0),
    "DCGM_FI_DEV_FB_USED": (1000, 80000),
    "DCGM_FI_DEV_FB_FREE": (1000, 80000),
    "DCGM_FI_DEV_FB_RESERVED": (600, 600),
    "DCGM_FI_DEV_POWER_USAGE": (70, 700),
    "DCGM_FI_DEV_GPU_TEMP": (30, 80),
}


def main() -> int:
    """Measure; print; give 1 when a budget is broken."""
    folder = Path(tempfile.gettempdir()) / f"fleetledger-bench-prometheus-{GPUS}"
    if not (folder / "done").exists():
        fill(folder)
    port = free_port()
    argv = [require_program("prometheus"), f"--config.file={folder / 'prometheus.yml'}", "--log.level=error"]
    argv += [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}"]
    url = f"http://127.0.0.1:{port}"
    with running([*argv, "--storage.tsdb.retention.time=100y"], log=folder / "log"):
        wait_until(lambda: is_ready(url), seconds=60, what="Prometheus")
        return measure(url)


def is_ready(url: str) -> bool:
    """Tell whether Prometheus answers."""
    try:
        return requests.get(f"{url}/-/ready", timeout=2).ok
    except requests.RequestException:
        return False


def fill(folder: Path) -> None:
    """Write the history and let promtool turn it into blocks."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "prometheus.yml").write_text("global: {}\n", encoding="utf-8")
    history = folder / "history.om"
    print(f"making {GPUS} GPUs x {MINUTES} min (once)", flush=True)
    with history.open("w", encoding="utf-8") as out:
        for part in lines():
            out.write(part)
    promtool = [require_program("promtool"), "tsdb", "create-blocks-from", "openmetrics", "--quiet"]
    subprocess.run([*promtool, "--max-block-duration=768h", str(history), str(folder / "data")], check=True)
    history.unlink()
    (folder / "done").touch()


def lines() -> Iterator[str]:
    """Give the history, one text per series."""
    end = LAST.timestamp()
    for name, (low, high) in METRICS.items():
        yield f"# TYPE {name} gauge\n"
        for number in range(GPUS):
            host = f"node-{number // 8:05d}"
            own = {"gpu": str(number % 8), "UUID": uuid(number), "device": f"nvidia{number % 8}"}
            own |= {
                "pci_bus_id": f"00000000:{number % 8:02X}:00.0",
                "modelName": "NVIDIA H100 80GB HBM3",
                "Hostname": host,
            }
            own |= {"DCGM_FI_DRIVER_VERSION": "570.124.06", "instance": f"{host}:9400", "job": "dcgm"}
            if number % 3:
                own |= {"namespace": f"team-{number % 40}", "pod": f"train-{number // 8}-0", "container": "main"}
            text = f"{name}{{{labels_text(own)}}}"
            offset = number % 29
            times = every(30, end - 60 * MINUTES + offset, end)
            values = (low + (high - low) * ((number * 7 + i * 13) % 100) / 100 for i in range(len(times)))
            yield "".join(f"{text} {value:.4g} {at:.0f}\n" for at, value in zip(times, values, strict=True))
    yield "# EOF\n"


class Recorder:
    """Notes every request of our client and how many bytes came back."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    def install(self) -> None:
        """Stand between the client and its session."""
        original = requests.Session.request
        asked = self.asked

        def request(session: requests.Session, method: str, url: str, **options: Any) -> requests.Response:
            asked.append((method, url, {key: options[key] for key in ("params", "data") if options.get(key)}))
            return original(session, method, url, **options)

        requests.Session.request = request  # type: ignore[method-assign,assignment]


def bare_fetch(asked: list[tuple[str, str, dict[str, Any]]]) -> tuple[float, int]:
    """Fetch the same answers, two at a time, without looking at them: (seconds, bytes)."""
    session = requests.Session()
    session.headers["Accept-Encoding"] = "identity"

    def fetch(item: tuple[str, str, dict[str, Any]]) -> int:
        method, url, options = item
        return len(session.request(method, url, timeout=60, **options).content)

    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        size = sum(pool.map(fetch, asked))
    return time.perf_counter() - started, size


def measure(url: str) -> int:
    """Collect the first marks, then ROUNDS new ones, one by one; compare each with a bare fetch right after it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    from fleet.actions.collect import collect_source
    from fleet.models import Source

    call_command("migrate", verbosity=0)
    source, _ = Source.objects.update_or_create(name="bench", defaults={"kind": "prometheus", "spec": {"url": url}})
    first = collect_source(source.pk, now=LAST - timedelta(minutes=5 * ROUNDS))
    print(f"first pull: {first.gpus} GPUs, {first.samples} samples in {first.seconds:.2f} s")
    recorder = Recorder()
    recorder.install()
    ours: list[float] = []
    bare: list[float] = []
    for number in reversed(range(ROUNDS)):
        recorder.asked.clear()
        busy = time.process_time()
        result = collect_source(source.pk, now=LAST - timedelta(minutes=5 * number))
        busy = time.process_time() - busy
        asked = list(recorder.asked)
        ours.append(result.seconds)
        taken, size = bare_fetch(asked)
        bare.append(taken)
        print(
            f"collect {result.seconds:.2f} s ({busy:.2f} s of them computing), {result.samples} written;"
            f" bare fetch {taken:.2f} s: {len(asked)} requests, {size / 2**20:.1f} MiB"
        )
    # Pairs, since the load of the machine moves.
    ratio = statistics.median(mine / theirs for mine, theirs in zip(ours, bare, strict=True))
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    best = f"best: collect {min(ours):.2f} s, bare {min(bare):.2f} s"
    print(f"coverage {result.coverage_pct} %; {best}; peak {rss:.0f} MB (budget 300)")
    print(f"median of pairs: x{ratio:.2f} (budget 1.5)")
    return int(ratio > 1.5 or rss > 300)


if __name__ == "__main__":
    sys.exit(main())
