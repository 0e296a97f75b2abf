"""What a machine can refuse: a folder, room, namespaces, a good environment. One clear line each, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installation import CHECKOUT, Installation

pytestmark = pytest.mark.faults
IS_ROOT = os.geteuid() == 0
_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    one = Installation(tmp_path / "var")
    yield one
    one.kill_all()


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


def as_nobody(installation: Installation, *argv: str) -> subprocess.CompletedProcess[str]:
    if not IS_ROOT:
        pytest.skip("only root can become somebody else")
    packages = str(Path(pytest.__file__).parent.parent)
    environment = installation.environment(HOME="/", PYTHONPATH=f"{CHECKOUT}:{packages}", PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run(
        [*_NOBODY, python_for_nobody(environment), *argv],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def python_for_nobody(environment: dict[str, str]) -> str:
    """Find a Python that an ordinary user can start; that of root's virtual environment may lie below /root."""
    nested = "import subprocess, sys, django; subprocess.run([sys.executable, '-c', ''], check=True)"
    for python in (sys.executable, "/usr/bin/python3"):
        tried = subprocess.run(
            [*_NOBODY, python, "-c", nested], cwd="/", env=environment, check=False, capture_output=True
        )
        if tried.returncode == 0:
            return python
    pytest.skip("an ordinary user can read neither this checkout nor a Python for it")


def test_an_ordinary_user_needs_nothing_else(installation: Installation, tmp_path: Path) -> None:
    installation.folder.path.mkdir()
    for path in (installation.folder.path, *tmp_path.parents[:2], tmp_path):
        path.chmod(0o755)
    if IS_ROOT:
        os.chown(installation.folder.path, 65534, 65534)
    done = as_nobody(installation, str(CHECKOUT / "manage.py"), "migrate", "--verbosity=0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert installation.folder.postgres.stat().st_uid == 65534
    installation.wait_until_empty(5)


def test_a_folder_that_may_not_be_written(installation: Installation, tmp_path: Path) -> None:
    installation.folder.path.mkdir()
    for path in (installation.folder.path, *tmp_path.parents[:2], tmp_path):
        path.chmod(0o755)
    for argv in ([str(CHECKOUT / "manage.py"), "prepare"], ["-m", "config.supervisor"]):
        line = one_line(as_nobody(installation, *argv))
        assert line.startswith(f"{installation.folder.path} can't be written: Permission denied.")
        assert line.endswith("[folder_unwritable]")


def test_a_folder_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = Installation(tmp_path / "file" / "var").manage("prepare", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "folder_unwritable"


def test_a_full_disk(tmp_path: Path) -> None:
    if (
        not IS_ROOT
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m", "none", tmp_path], check=False).returncode
    ):
        pytest.skip("mounting a small disk needs root")
    installation = Installation(tmp_path / "var")
    try:
        line = one_line(installation.manage("prepare"))
        assert line.startswith(f"The disk of {installation.folder.path} is full: ")
        assert line.endswith("[disk_full]")
        assert not installation.folder.postgres.exists()
    finally:
        installation.kill_all()
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_machine_that_forbids_user_namespaces(installation: Installation, tmp_path: Path) -> None:
    if not IS_ROOT:
        pytest.skip("only root needs a namespace")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "unshare").write_text(
        "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n"
    )
    (programs / "unshare").chmod(0o755)
    line = one_line(installation.manage("prepare", PATH=f"{programs}:{os.environ['PATH']}"))
    assert "Run Fleetledger as an ordinary user" in line
    assert line.endswith("[root_refused]")


def test_a_bad_environment_names_everything_at_once(installation: Installation) -> None:
    done = installation.manage("prepare", FLEETLEDGER_DATADIR="x", FLEETLEDGER_ACT="maybe", PROMETHEUS_URL="prom:9090")
    assert done.returncode == 2
    assert [line.rpartition(" ")[2] for line in done.stderr.splitlines()] == [
        "[fleetledger.E001]",
        "[fleetledger.E006]",
        "[fleetledger.E010]",
    ]
    assert not installation.folder.path.exists()


def test_a_database_that_is_away(installation: Installation) -> None:
    done = installation.manage("prepare", "--json", DATABASE_URL="postgres://u:hunter22@127.0.0.1:1/x")
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"]["code"] == "database_unreachable"
    assert "hunter22" not in done.stdout + done.stderr


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.10"])
def test_an_old_python_says_what_it_lacks(version: str) -> None:
    own = Path.home() / ".pyenv" / "versions"
    found = [*Path("/usr/bin").glob(f"python{version}"), *own.glob(f"{version}*/bin/python")]
    if not found:
        pytest.skip(f"Python {version} is not installed")
    done = subprocess.run(
        ["make", "--no-print-directory", "setup", f"PYTHON={found[0]}"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("Fleetledger needs Python 3.11 or newer")
    assert "Traceback" not in done.stderr
