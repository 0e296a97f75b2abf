"""TRUNCATE of the audit trail is refused too, also where the application owns the table (an external database)."""

from django.db import migrations

FORWARDS = """
CREATE TRIGGER people_auditevent_no_truncate BEFORE TRUNCATE ON people_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION people_refuse_change();
"""
BACKWARDS = "DROP TRIGGER people_auditevent_no_truncate ON people_auditevent;"


class Migration(migrations.Migration):
    dependencies = [("people", "0006_api_tokens")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
