"""The commands of docker-compose.yml, started as they stand there, on a real Redis and a real PostgreSQL 15."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
import redis

from tests.architecture.deployment import compose, environment
from tests.architecture.tree import ROOT
from tests.support.postgres import system_postgres
from tests.support.processes import free_port, running, wait_until

BIN = Path(sys.executable).parent
PASSWORD = "for-this-test-only-0123456789"


class Deployment:
    """Services of the compose file as plain processes; ``/run/secrets`` is a folder of the test."""

    def __init__(self, folder: Path, database_url: str, redis_url: str) -> None:
        self.folder, self.database_url, self.redis_url, self.port = folder, database_url, redis_url, free_port()
        self.secrets = folder / "secrets"
        self.secrets.mkdir(parents=True)
        values = {"database_url": database_url, "secret_key": secrets.token_urlsafe(48), "admin_password": PASSWORD}
        for name in compose()["secrets"]:
            (self.secrets / name).write_text(values.get(name, "unused"), encoding="utf-8")

    def environment(self, service: str) -> dict[str, str]:
        """Give the service's environment: files and Redis are where this test has them."""
        given = {name: value.replace("/run/secrets", str(self.secrets)) for name, value in environment(service).items()}
        own = {"CELERY_BROKER_URL": self.redis_url, "FLEETLEDGER_DATA_DIR": str(self.folder / "data")}
        return {"PATH": f"{BIN}:{os.environ['PATH']}", **given, **own, "PORT": str(self.port)}

    def argv(self, service: str) -> list[str]:
        """Give the service's command; the image's python is that of this environment."""
        command: list[str] = compose()["services"][service]["command"]
        return [str(BIN / command[0]), *command[1:]]

    def log(self, service: str) -> Path:
        """Give the file that holds what the service says."""
        return self.folder / f"{service}.log"

    def said(self) -> str:
        """Give what all services said, for the report of a failing test."""
        return "\n".join(
            f"--- {path.stem}\n{path.read_text(encoding='utf-8')}" for path in sorted(self.folder.glob("*.log"))
        )


@pytest.fixture
def deployment(tmp_path: Path, redis_url: str) -> Iterator[Deployment]:
    with system_postgres() as database_url:
        one = Deployment(tmp_path, database_url, redis_url)
        yield one
        print(one.said())  # noqa: T201 - pytest shows it when the test fails


def answers(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@pytest.mark.slow
def test_web_worker_and_beat_work_together(deployment: Deployment) -> None:
    prepare = subprocess.run(
        deployment.argv("prepare"),
        cwd=ROOT,
        env=deployment.environment("prepare"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert prepare.returncode == 0, prepare.stderr
    assert PASSWORD not in prepare.stdout + prepare.stderr
    with ExitStack() as stack, psycopg.connect(deployment.database_url, autocommit=True) as database:
        version = database.execute("SHOW server_version_num").fetchone()
        assert version is not None
        assert int(version[0]) // 10_000 == 15

        started = {}
        for service in ("web", "worker", "beat"):
            environment_of_it = deployment.environment(service)
            process = running(deployment.argv(service), log=deployment.log(service), env=environment_of_it, cwd=ROOT)
            started[service] = stack.enter_context(process)

        healthz = f"http://127.0.0.1:{deployment.port}/healthz"
        wait_until(lambda: answers(healthz) == 200, seconds=30, what=healthz)

        def jobs_done() -> set[str]:
            rows = database.execute("SELECT name FROM fleet_jobrun WHERE ok_at IS NOT NULL").fetchall()
            return {str(name) for (name,) in rows}

        wait_until(lambda: "deliver" in jobs_done(), seconds=45, what="the first periodic job")
        # The message went through Redis, not through a folder of this machine.
        calls = redis.Redis.from_url(deployment.redis_url).info("commandstats")
        assert calls["cmdstat_lpush"]["calls"] >= 1
        assert {service: process.poll() for service, process in started.items()} == dict.fromkeys(started), (
            deployment.said()
        )
