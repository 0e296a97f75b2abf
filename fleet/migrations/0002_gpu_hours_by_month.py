import django.db.models.deletion
from django.db import migrations, models

from common.partitions import PartitionByMonth


def reference(to, on_delete, **more):
    return models.ForeignKey(db_constraint=False, db_index=False, on_delete=on_delete, related_name="+", to=to, **more)


class Migration(migrations.Migration):

    dependencies = [
        ("fleet", "0001_initial"),
        ("people", "0001_initial"),
    ]

    operations = [
        migrations.DeleteModel(name="GpuHour"),
        migrations.CreateModel(
            name="GpuHour",
            fields=[
                ("pk", models.CompositePrimaryKey("hour", "instance_id", "gpu_ref", "share", blank=True, editable=False, primary_key=True, serialize=False)),
                ("hour", models.DateTimeField()),
                ("gpu_ref", models.BigIntegerField(default=0)),
                ("share", models.SmallIntegerField(default=0)),
                ("part_start_minute", models.SmallIntegerField(default=0)),
                ("owner", models.CharField(blank=True, max_length=254)),
                ("gpu_model", models.CharField(blank=True, max_length=120)),
                ("working_ms", models.BigIntegerField(default=0)),
                ("low_ms", models.BigIntegerField(default=0)),
                ("held_ms", models.BigIntegerField(default=0)),
                ("empty_ms", models.BigIntegerField(default=0)),
                ("unknown_ms", models.BigIntegerField(default=0)),
                ("stopped_ms", models.BigIntegerField(default=0)),
                ("instance", reference("fleet.instance", django.db.models.deletion.CASCADE)),
                ("job", reference("fleet.job", django.db.models.deletion.SET_NULL, null=True)),
                ("team", reference("people.team", django.db.models.deletion.PROTECT, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["instance", "hour"], name="gpu_hour_of_instance"),
                    models.Index(condition=models.Q(("job__isnull", False)), fields=["job"], name="gpu_hour_of_job"),
                ],
            },
        ),
        PartitionByMonth("fleet_gpuhour"),
        migrations.CreateModel(
            name="MeteredSpan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("start", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("instance", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="metered_span", to="fleet.instance")),
            ],
        ),
        migrations.CreateModel(
            name="RemeteredHour",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hour", models.DateTimeField()),
                ("instance", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.instance")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("instance", "hour"), name="remetered_hour_once")],
            },
        ),
    ]
