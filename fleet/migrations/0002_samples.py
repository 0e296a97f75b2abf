"""Samples in weekly partitions, and the two functions that make and drop partitions.

The functions run with their owner's rights, because the role that the application works with may not change tables.
"""

import django.db.models.fields.composite
from django.db import migrations, models

TABLE = """
CREATE TABLE fleet_samplehour (
    gpu_id bigint NOT NULL,
    hour timestamptz NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (gpu_id, hour)
) PARTITION BY RANGE (hour);
"""

FUNCTIONS = """
CREATE FUNCTION fleet_make_sample_partition(monday timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    monday_utc timestamp := date_trunc('week', monday AT TIME ZONE 'UTC');
    name text := 'fleet_samplehour_' || to_char(monday_utc, 'YYYYMMDD');
BEGIN
    IF to_regclass(name) IS NOT NULL THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('fleet_samplehour partitions', 0));
    IF to_regclass(name) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format(
        'CREATE TABLE %I PARTITION OF fleet_samplehour FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 50)',
        name, monday_utc AT TIME ZONE 'UTC', (monday_utc + interval '7 days') AT TIME ZONE 'UTC'
    );
    RETURN true;
END $$;

CREATE FUNCTION fleet_drop_sample_partitions(before timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    part record;
    dropped integer := 0;
BEGIN
    FOR part IN
        SELECT relname, to_timestamp(right(relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' AS monday
        FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'fleet_samplehour'::regclass
    LOOP
        IF part.monday + interval '7 days' <= before THEN
            EXECUTE format('DROP TABLE %I', part.relname);
            dropped := dropped + 1;
        END IF;
    END LOOP;
    RETURN dropped;
END $$;
"""

DROP = """
DROP FUNCTION fleet_drop_sample_partitions(timestamptz);
DROP FUNCTION fleet_make_sample_partition(timestamptz);
DROP TABLE fleet_samplehour;
"""


class Migration(migrations.Migration):
    dependencies = [("fleet", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(TABLE + FUNCTIONS, DROP)],
            state_operations=[
                migrations.CreateModel(
                    name="SampleHour",
                    fields=[
                        (
                            "pk",
                            django.db.models.fields.composite.CompositePrimaryKey(
                                "gpu_id", "hour", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        ("gpu_id", models.BigIntegerField()),
                        ("hour", models.DateTimeField()),
                        ("data", models.BinaryField()),
                    ],
                )
            ],
        )
    ]
