"""Is this process fit to answer, and is the whole passing regularly? Facts from the database, never from the broker."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


def database_answers() -> bool:
    """Say whether the database can be asked."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return cursor.fetchone() == (1,)
    except DatabaseError:
        return False


def migrations_are_applied() -> bool:
    """Say whether the database is as new as this code."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
