"""What `manage.py` does before Django takes over: bring the database up and up to date, then run the command."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from common.errors import BadInputs, FleetledgerError
from config import startup
from config.embedded import Hold

WITHOUT_DATABASE = frozenset(
    {
        "",
        "help",
        "version",
        "check",
        "collectstatic",
        "compilemessages",
        "findstatic",
        "makemessages",
        "startapp",
        "test",
    }
)
WITHOUT_MIGRATING = frozenset(
    {"dbshell", "makemigrations", "migrate", "showmigrations", "sqlmigrate", "squashmigrations", "optimizemigration"}
)


def run(argv: Sequence[str]) -> int:
    """Run the command in ``argv``; return its exit code. stdout holds the command's answer and nothing else."""
    command = argv[1] if len(argv) > 1 and not argv[1].startswith("-") else ""
    needs_database = command not in WITHOUT_DATABASE and "--help" not in argv and "-h" not in argv
    hold = None
    try:
        hold = startup.begin(needs_database=needs_database)
        return _execute(argv, migrates=needs_database and command not in WITHOUT_MIGRATING)
    except FleetledgerError as error:
        _report(error, as_json="--json" in argv)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    finally:
        _leave(hold)


def _execute(argv: Sequence[str], *, migrates: bool) -> int:
    import django
    from django.core.management import ManagementUtility

    if migrates:
        django.setup()
        startup.ensure_migrated()
        startup.ensure_default_source()
    ManagementUtility(list(argv)).execute()
    return 0


def _report(error: FleetledgerError, *, as_json: bool) -> None:
    """Say on stderr what is wrong; with --json give the error document too."""
    startup.report(error)
    if as_json:
        errors = error.errors if isinstance(error, BadInputs) else (error,)
        document = {"error": error.as_json(), "errors": [one.as_json() for one in errors]}
        sys.stdout.write(f"{json.dumps(document, ensure_ascii=False)}\n")


def _leave(hold: Hold | None) -> None:
    """Close our connections, then let go of the engine; the last one out stops it."""
    if "django.db" in sys.modules:
        from django.db import connections

        connections.close_all()
    if hold is not None:
        hold.release()
