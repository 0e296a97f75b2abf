from django.db import migrations

from common.partitions import PartitionByMonth


class Migration(migrations.Migration):

    dependencies = [("billing", "0001_initial"), ("fleet", "0002_gpu_hours_by_month")]

    operations = [PartitionByMonth("billing_gpuhourcost")]
