from django.db import migrations, models

from common.partitions import PartitionByMonth


class Migration(migrations.Migration):

    dependencies = [("fleet", "0004_verdict_clocks_and_idle_runs")]

    operations = [
        migrations.CreateModel(
            name="SampleHour",
            fields=[
                ("pk", models.CompositePrimaryKey("gpu_id", "hour", blank=True, editable=False, primary_key=True, serialize=False)),
                ("gpu_id", models.BigIntegerField()),
                ("hour", models.DateTimeField()),
                ("data", models.BinaryField()),
            ],
        ),
        PartitionByMonth("fleet_samplehour", "hour"),
    ]
