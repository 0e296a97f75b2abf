"""The files of the embedded database: made whole or not at all, with scram passwords only this user can read."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from pathlib import Path

from config.embedded.binaries import death_signal_prefix, program_folder, root_refused, user_prefix
from config.folders import DataFolder, StartError, check_room, make_private_folder, write_private_file

DATABASE = "fleetledger"
DEMO_SUFFIX = "_demo"  # of the name of the demo's database, beside the real one
SUPERUSER = "postgres"
OWNER = "fleetledger_owner"  # owns the tables, runs migrations
APP = "fleetledger_app"  # what web, worker and commands are
ROLES = (SUPERUSER, OWNER, APP)


def password_file(folder: DataFolder, role: str) -> Path:
    """Where the password of ``role`` stands, as libpq reads it (``passfile``): no process holds it longer."""
    return folder.secrets / f"pgpass-{role.replace('_', '-')}"


def data_major(folder: DataFolder) -> int | None:
    """Which PostgreSQL wrote the data; None: there are none yet."""
    try:
        return int((folder.postgres / "PG_VERSION").read_text(encoding="ascii"))
    except FileNotFoundError:
        return None


def ensure_cluster(folder: DataFolder) -> None:
    """Make the database's files if there are none. The caller holds the start lock and the server is down.

    Everything happens in ``postgres.new``, which is renamed when it is complete: a process killed half-way leaves
    nothing that the next start could mistake for a database. Lost passwords are made anew.
    """
    check_room(folder.path)
    if data_major(folder) is None:
        _make_cluster(folder)
    elif not all(password_file(folder, role).exists() for role in ROLES):
        _reset_passwords(folder)
    if folder.postgres.stat().st_mode & 0o777 != 0o700:
        folder.postgres.chmod(0o700)  # as a copy or restore may have left it; PostgreSQL refuses anything wider


def _make_cluster(folder: DataFolder) -> None:
    if folder.postgres.exists():
        raise StartError(
            "engine_data",
            f"{folder.postgres} exists and holds no database.",
            hint="Move it away, or set FLEETLEDGER_DATA_DIR to another folder.",
        )
    fresh = folder.path / "postgres.new"
    shutil.rmtree(fresh, ignore_errors=True)
    make_private_folder(fresh)
    options = ["-D", str(fresh), "-U", SUPERUSER, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8"]
    first = secrets.token_urlsafe(32)  # initdb insists on a password; the lasting one is set below with the others
    _run([str(program_folder() / "initdb"), *options, "--pwfile=/dev/stdin"], f"{first}\n", what="make the database")
    fresh_passwords = _new_passwords()
    statements = [
        *_password_statements(fresh_passwords, "CREATE"),
        f"GRANT {APP} TO {OWNER}",  # the owner can alter what the application made (partitions)
        f"CREATE DATABASE {DATABASE} OWNER {OWNER}",
        f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC",
        f"GRANT CONNECT, TEMPORARY ON DATABASE {DATABASE} TO {APP}",
        f"REVOKE ALL ON DATABASE {SUPERUSER} FROM PUBLIC",
    ]
    _statements(fresh, statements)
    _keep_passwords(folder, fresh_passwords)
    fresh.rename(folder.postgres)


def _reset_passwords(folder: DataFolder) -> None:
    passwords = _new_passwords()
    _statements(folder.postgres, _password_statements(passwords, "ALTER"))
    _keep_passwords(folder, passwords)


def _new_passwords() -> dict[str, str]:
    return {role: secrets.token_urlsafe(32) for role in ROLES}


def _password_statements(passwords: dict[str, str], verb: str) -> list[str]:
    verbs = dict.fromkeys(ROLES, verb) | {SUPERUSER: "ALTER"}  # initdb has made that one
    return [f"{verbs[role]} ROLE {role} LOGIN PASSWORD '{secret}'" for role, secret in passwords.items()]


def _keep_passwords(folder: DataFolder, passwords: dict[str, str]) -> None:
    """Write them once the database knows them: killed before, the next start finds files missing and sets new ones."""
    for role, secret in passwords.items():
        write_private_file(password_file(folder, role), f"*:*:*:{role}:{secret}\n")


def _statements(data: Path, statements: list[str]) -> None:
    """Run SQL without a server (single-user mode, one statement per line on stdin: no password in a process list)."""
    major = int((data / "PG_VERSION").read_text(encoding="ascii"))
    command = [
        str(program_folder(major) / "postgres"),
        "--single",
        "-D",
        str(data),
        "-c",
        "exit_on_error=on",
        SUPERUSER,
    ]
    _run(command, "".join(f"{statement};\n" for statement in statements), what="set up the database")


def _run(command: list[str], stdin: str, *, what: str) -> None:
    whole = [*user_prefix(), *death_signal_prefix(), *command]
    done = subprocess.run(whole, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise failure(done.stderr + done.stdout, what=what)


def failure(output: str, *, what: str) -> StartError:
    """Turn what PostgreSQL wrote before it gave up into one clear line."""
    if "unshare" in output and "failed" in output:
        return root_refused()
    if "No space left on device" in output:
        return StartError("disk_full", f"Could not {what}: the disk is full.", hint="Make room and start again.")
    telling = [
        line for line in output.splitlines() if any(word in line for word in ("FATAL", "PANIC", "error:", "ERROR"))
    ]
    reason = (telling or output.strip().splitlines() or ["PostgreSQL ended without a word"])[-1].strip()
    return StartError(
        "engine_failed", f"Could not {what}: {reason}", hint="The log is in postgres.log of the run folder."
    )
