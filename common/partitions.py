"""Tables partitioned by calendar month (UTC): turned into such by a migration, months made ahead, dropped by retention.

The web and worker processes may not own the tables, so months are made and dropped by two functions of the database
that run with the rights of the owner and touch nothing but months of such tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

FUNCTIONS = """
CREATE OR REPLACE FUNCTION fleetledger_make_month(parent regclass, month date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first date := date_trunc('month', month)::date;
    schema text; name text;
BEGIN
    SELECT n.nspname, c.relname INTO schema, name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = parent AND c.relkind = 'p';
    IF name IS NULL THEN RAISE EXCEPTION '% is not partitioned', parent; END IF;
    IF to_regclass(format('%I.%I', schema, name || to_char(first, '_YYYY_MM'))) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I.%I (LIKE %I.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS) WITH (fillfactor = 85)',
                   schema, name || to_char(first, '_YYYY_MM'), schema, name);
    EXECUTE format('ALTER TABLE %I.%I ATTACH PARTITION %I.%I FOR VALUES FROM (%L) TO (%L)', schema, name, schema,
                   name || to_char(first, '_YYYY_MM'), first || ' 00:00:00+00', (first + interval '1 month')::date ||
                   ' 00:00:00+00');
END $$;
CREATE OR REPLACE FUNCTION fleetledger_drop_months(parent regclass, before date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    part record; dropped integer := 0;
BEGIN
    FOR part IN SELECT n.nspname, c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                  JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE i.inhparent = parent AND c.relname ~ '_\\d{4}_\\d{2}$'
                   AND to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= date_trunc('month', before)
                   LOOP
        EXECUTE format('DROP TABLE %I.%I', part.nspname, part.relname);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;
"""

CONVERT = """
DO $$
DECLARE
    plain regclass := '{table}'::regclass; definitions text[]; definition text; key text;
BEGIN
    SELECT pg_get_constraintdef(oid) INTO key FROM pg_constraint WHERE conrelid = plain AND contype = 'p';
    SELECT coalesce(array_agg(pg_get_indexdef(indexrelid)), '{{}}') INTO definitions FROM pg_index
     WHERE indrelid = plain AND NOT indisprimary;
    ALTER TABLE "{table}" RENAME TO "{table}_plain";
    CREATE TABLE "{table}" (LIKE "{table}_plain" INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE
    ("{column}"); DROP TABLE "{table}_plain";
    EXECUTE 'ALTER TABLE "{table}" ADD ' || key;
    FOREACH definition IN ARRAY definitions LOOP EXECUTE definition; END LOOP;
END $$;
"""


class PartitionByMonth(Operation):
    """Turn an empty table into one partitioned by month of a timestamp column that is part of its primary key."""

    reversible = True

    def __init__(self, table: str, column: str = "hour") -> None:
        self.table, self.column = table, column

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Say how this operation is written in a migration."""
        return (self.__class__.__qualname__, [self.table, self.column], {})

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Leave the models as they are: Django need not know."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Convert; the names of the indexes stay."""
        schema_editor.execute(FUNCTIONS, params=None)
        schema_editor.execute(CONVERT.format(table=self.table, column=self.column), params=None)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Do nothing: a partitioned table is dropped like any other."""

    def describe(self) -> str:
        """Say what it does."""
        return f"Partition {self.table} by month of {self.column}"


def months_of(table: str) -> set[date]:
    """Give the first day of every month that ``table`` has."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT to_date(right(c.relname, 7), 'YYYY_MM') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = %s::regclass",
            [table],
        )
        return {row[0] for row in cursor.fetchall()}


def make_months(table: str, moments: Iterable[datetime]) -> None:
    """Make the months of ``table`` that hold ``moments`` (UTC), where they are missing."""
    months = {date(moment.year, moment.month, 1) for moment in moments}
    missing = sorted(months - months_of(table))
    with connection.cursor() as cursor:
        for month in missing:
            cursor.execute("SELECT fleetledger_make_month(%s::regclass, %s)", [table, month])


def drop_months(table: str, *, before: datetime) -> int:
    """Drop the months of ``table`` that end at or before the start of the month of ``before``; return how many."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT fleetledger_drop_months(%s::regclass, %s)", [table, before.date()])
        row = cursor.fetchone()
    return int(row[0]) if row else 0
