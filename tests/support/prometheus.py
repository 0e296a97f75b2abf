"""Real Prometheus servers: one filled with a history by promtool, or one that scrapes an exporter of ours live."""

from __future__ import annotations

import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.support.processes import free_port, require_program, running, wait_until
from tests.support.scripted_http import Answer, ScriptedServer


class PrometheusStarter:
    """Starts servers on free loopback ports and ends them all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._count = 0

    def __enter__(self) -> PrometheusStarter:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def backfilled(self, openmetrics: str | Path, *options: str) -> str:
        """Fill a new server with OpenMetrics text (times in seconds; `# EOF` is added); give its URL."""
        promtool, home = require_program("promtool"), self._home()
        source = openmetrics if isinstance(openmetrics, Path) else home / "history.om"
        if isinstance(openmetrics, str):
            text = openmetrics if openmetrics.endswith("\n") else openmetrics + "\n"
            source.write_text(text if text.endswith("# EOF\n") else text + "# EOF\n", encoding="utf-8")
        # Without the long block duration promtool reads the whole file once per two hours of history.
        fill = [promtool, "tsdb", "create-blocks-from", "openmetrics", "--quiet", "--max-block-duration=768h"]
        done = subprocess.run([*fill, source, home / "data"], check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"promtool: {done.stdout}{done.stderr}"
        return self._serve(home, "global: {}\n", options)

    def scraping(self, render: Callable[[], str], *, job: str = "dcgm", interval: str = "1s") -> tuple[str, str]:
        """Scrape an exporter whose page is ``render()``; give the server's URL and the exporter's host:port."""
        exporter = self._stack.enter_context(ScriptedServer())
        kind = {"Content-Type": "text/plain; version=0.0.4"}
        exporter.respond = lambda request: Answer(200, render().encode(), kind)
        target = exporter.url.removeprefix("http://")
        config = (
            f"global: {{scrape_interval: {interval}, scrape_timeout: {interval}}}\n"
            f"scrape_configs: [{{job_name: {job}, static_configs: [{{targets: ['{target}']}}]}}]\n"
        )
        url = self._serve(self._home(), config, ())
        # Target discovery takes about five seconds before the first scrape.
        wait_until(lambda: bool(exporter.requests), seconds=30, what="the first scrape")
        return url, target

    def _home(self) -> Path:
        self._count += 1
        home = self._folder / f"prometheus-{self._count}"
        (home / "data").mkdir(parents=True)
        return home

    def _serve(self, home: Path, config: str, options: tuple[str, ...]) -> str:
        program, port = require_program("prometheus"), free_port()
        (home / "prometheus.yml").write_text(config, encoding="utf-8")
        argv = [program, f"--config.file={home / 'prometheus.yml'}", f"--storage.tsdb.path={home / 'data'}"]
        # The default of 15 days drops every block that is older than the newest one by more.
        argv += ["--storage.tsdb.retention.time=10y", f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"]
        self._stack.enter_context(running([*argv, *options], log=home / "prometheus.log"))
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: _is_ready(url), seconds=30, what="Prometheus")
        return url


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
