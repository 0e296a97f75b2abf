"""Leave room in the pages of GPUs: every pull moves `last_seen_at`, and a new version that fits beside the old one
touches no index."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("fleet", "0012_job_search")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE fleet_gpu SET (fillfactor = 50)", reverse_sql="ALTER TABLE fleet_gpu RESET (fillfactor)"
        )
    ]
