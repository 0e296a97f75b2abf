"""What every process does before its work: read the environment, bring the database up, migrate if need be.

Three steps, since settings may only be loaded after the first:
``begin`` (no Django) -> ``django.setup()`` -> ``ensure_migrated``.
"""

from __future__ import annotations

import os
import sys

from common.errors import BadInput, BadInputs, FleetledgerError, OutsideFailed
from config import environment
from config.embedded import Hold, hold_engine
from config.folders import DataFolder, StartError, secret_key

OLDEST_POSTGRESQL = 150000  # as libpq counts


def begin(*, needs_database: bool = True) -> Hold | None:
    """Check the environment, make the data folder and its key, start the embedded engine if that is our database.

    Raises BadInputs (all problems of the environment) and StartError, each a clear line.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    found = environment.read()
    if found.problems:
        raise BadInputs([BadInput(one.id, one.message, hint=one.hint) for one in found.problems])
    if not needs_database:
        return None
    folder = DataFolder(found.data_folder)
    folder.make()
    if not found.is_set("SECRET_KEY"):
        secret_key(folder)
    return hold_engine(folder) if found.uses_embedded_engine else None


def report(error: FleetledgerError) -> int:
    """Say on stderr what is wrong, one line for each error; give the exit code."""
    for one in error.errors if isinstance(error, BadInputs) else (error,):
        sys.stderr.write(f"{' '.join(part for part in (one.message, one.hint) if part)} [{one.code}]\n")
    return error.exit_code


def ensure_migrated() -> bool:
    """Bring the database's tables up to this release, if they are older; tell whether there was work.

    One query when there is none. Several processes at once wait for each other (advisory lock in `migrate`).
    """
    from django.core.management import call_command

    from config.embedded.roles import rights_are_given

    check_database()
    if not missing_migrations() and rights_are_given():
        return False
    call_command("migrate", interactive=False, verbosity=0)
    return True


def check_database() -> None:
    """Connect. Raises OutsideFailed (database_unreachable) or StartError (database_old), in one clear line."""
    from django.db import OperationalError, connection

    try:
        connection.ensure_connection()
    except OperationalError as error:
        reason = str(error).strip().splitlines()[0].strip()
        raise OutsideFailed(
            "database_unreachable",
            f"The database can't be reached: {reason}",
            hint="Is it up, and is DATABASE_URL right?",
        ) from None
    version = connection.connection.info.server_version
    if version < OLDEST_POSTGRESQL:
        raise StartError(
            "database_old",
            f"The database is PostgreSQL {version // 10000}; Fleetledger needs {OLDEST_POSTGRESQL // 10000} or newer.",
            hint="Upgrade it, or leave DATABASE_URL out to use the embedded one.",
        )


def missing_migrations() -> set[tuple[str, str]]:
    """Give (app, name) of the migrations of this release that the database has not had."""
    from django.apps import apps
    from django.db import ProgrammingError, connection, transaction

    here = {
        (app.label, name.removesuffix(".py"))
        for app in apps.get_app_configs()
        if os.path.isdir(os.path.join(app.path, "migrations"))  # noqa: PTH112, PTH118 - 20 folders in a millisecond
        for name in os.listdir(os.path.join(app.path, "migrations"))  # noqa: PTH118, PTH208
        if name.endswith(".py") and name[0] not in "_~"
    }
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            return here - set(cursor.fetchall())
    except ProgrammingError:  # no such table, or no right to see it yet: a fresh database
        return here


def ensure_default_source() -> None:
    """Keep the source `default` at PROMETHEUS_URL, when that is set."""
    from django.conf import settings

    from fleet.actions.default_source import keep_default_source

    if settings.PROMETHEUS_URL:
        keep_default_source(url=settings.PROMETHEUS_URL)
