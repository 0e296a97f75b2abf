import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("fleet", "0003_declared_sets_and_removed_accounts")]

    operations = [
        migrations.DeleteModel(name="GpuClock"),
        migrations.CreateModel(
            name="GpuClock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rule_key", models.CharField(max_length=64)),
                ("shard", models.IntegerField()),
                ("mark", models.DateTimeField()),
                ("gpu_ids", models.BinaryField()),
                ("carry", models.BinaryField()),
                ("checksum", models.BinaryField()),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("rule_key", "shard"), name="gpu_clock_once")]},
        ),
        migrations.CreateModel(
            name="IdleRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(null=True)),
                ("gpu", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="idle_runs", to="fleet.gpu")),
            ],
            options={
                "indexes": [models.Index(fields=["until", "since"], name="fleet_idler_until_69a8d1_idx")],
                "constraints": [models.UniqueConstraint(fields=("gpu", "since"), name="idle_run_once")],
            },
        ),
        migrations.AddField("finding", "closed_because", models.CharField(blank=True, max_length=20)),
        migrations.AddField("finding", "reopened", models.IntegerField(default=0)),
    ]
