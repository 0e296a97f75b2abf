"""The database itself refuses to change or delete an audit event, whoever asks."""

from django.db import migrations

FORWARDS = """
CREATE FUNCTION people_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER people_auditevent_append_only BEFORE UPDATE OR DELETE ON people_auditevent
    FOR EACH ROW EXECUTE FUNCTION people_refuse_change();
"""
BACKWARDS = """
DROP TRIGGER people_auditevent_append_only ON people_auditevent;
DROP FUNCTION people_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("people", "0002_sign_in_failure")]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
