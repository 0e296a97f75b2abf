"""Who may do what in the embedded database. The rules of an external one are its administrator's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from config.embedded.cluster import APP, OWNER, password_file

APPEND_ONLY = ("people_auditevent",)
"""Tables that the application may only add to. (A trigger guards the audit trail in external databases too.)"""


def is_embedded() -> bool:
    """Tell whether Django talks to our own engine."""
    return bool(settings.ENVIRONMENT.uses_embedded_engine) and connection.settings_dict["USER"] in {APP, OWNER}


@contextmanager
def as_owner() -> Iterator[None]:
    """Be the owner of the tables for a while (migrations); in an external database nothing changes."""
    if not is_embedded() or connection.settings_dict["USER"] == OWNER:
        yield
        return
    before = connection.settings_dict.copy()
    options = before["OPTIONS"] | {"passfile": str(password_file(settings.FOLDER, OWNER))}
    connection.close()
    connection.settings_dict.update({"USER": OWNER, "OPTIONS": options})
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)


def rights_are_given() -> bool:
    """Tell whether the application has its rights on every table: a process may have been killed after migrating."""
    if not is_embedded():
        return True
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND ("
            "relkind IN ('r', 'p') AND NOT has_table_privilege(oid, 'SELECT') OR "
            "relkind = 'p' AND pg_get_userbyid(relowner) <> %s))",
            [APP],
        )
        return bool(cursor.fetchone()[0])


def grant_rights() -> None:
    """Give the application its rights on every table; the caller is the owner. Harmless when repeated.

    Partitioned tables become the application's own, since it makes and drops their partitions.
    """
    statements = [
        f"GRANT USAGE, CREATE ON SCHEMA public TO {APP}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {APP}",
        f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {APP}",
        f"REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {APP}",
    ]
    tables = connection.introspection.table_names()
    statements += [f'REVOKE UPDATE, DELETE ON "{table}" FROM {APP}' for table in APPEND_ONLY if table in tables]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent "
            "WHERE n.nspname = 'public' AND c.relkind IN ('p', 'r') AND (c.relkind = 'p' OR p.relkind = 'p') "
            "AND pg_get_userbyid(c.relowner) <> %s",
            [APP],
        )
        statements += [f"ALTER TABLE {name} OWNER TO {APP}" for (name,) in cursor.fetchall()]
        for statement in statements:
            cursor.execute(statement)
