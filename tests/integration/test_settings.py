"""Settings: safe by default, right behind TLS, and loaded with nothing at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.installation import CHECKOUT, Installation

_SHOW = "from config import settings as s; print(s.{name})"


def show(installation: Installation, name: str, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _SHOW.format(name=name)],
        cwd=CHECKOUT, env=installation.environment(**more), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_they_load_without_making_anything(tmp_path: Path) -> None:
    installation = Installation(tmp_path / "var")
    assert show(installation, "DEBUG") == "False"
    assert not installation.folder.path.exists()


def test_the_key_is_kept_and_never_a_constant(tmp_path: Path) -> None:
    installation = Installation(tmp_path / "var")
    assert show(installation, "SECRET_KEY") != show(installation, "SECRET_KEY")
    installation.folder.make()
    (installation.folder.secrets / "secret-key").write_text("kept")
    assert show(installation, "SECRET_KEY") == "kept"
    assert show(installation, "SECRET_KEY", SECRET_KEY="kX9fQ2" * 10) == "kX9fQ2" * 10


def test_checks_pass_as_documented_for_production(tmp_path: Path) -> None:
    """`check --deploy` with the environment that docs/reference/settings.md tells to use."""
    (tmp_path / "key").write_text("kX9fQ2" * 10)
    done = Installation(tmp_path / "var").manage(
        "check", "--deploy", "--fail-level", "WARNING",
        FLEETLEDGER_URL="https://fleet.example.com", SECRET_KEY_FILE=str(tmp_path / "key"),
        DATABASE_URL="postgres://fleetledger@db/fleetledger", CELERY_BROKER_URL="redis://redis:6379/0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_hosts_and_cookies_follow_the_address(tmp_path: Path) -> None:
    one = Installation(tmp_path / "var")
    assert show(one, "ALLOWED_HOSTS") == "['127.0.0.1', '[::1]', 'localhost']"
    assert show(one, "SESSION_COOKIE_SECURE") == "False"
    https = {"FLEETLEDGER_URL": "https://fleet.example.com"}
    assert show(one, "ALLOWED_HOSTS", **https) == "['127.0.0.1', '[::1]', 'fleet.example.com', 'localhost']"
    assert show(one, "SESSION_COOKIE_SECURE", **https) == "True"
    assert show(one, "CSRF_TRUSTED_ORIGINS", **https) == "['https://fleet.example.com']"


def test_a_bad_environment_fails_the_check_with_its_id(tmp_path: Path) -> None:
    done = Installation(tmp_path / "var").manage("check", FLEETLEDGER_ACT="maybe")
    assert done.returncode == 2
    assert done.stderr == "FLEETLEDGER_ACT is 'maybe'. Write on, or off: then no act leaves. [fleetledger.E010]\n"
