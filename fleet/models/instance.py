"""Provider accounts and their instances: what each is now, what it was, when it ran."""

from __future__ import annotations

from django.db import models


class Account(models.Model):
    """A provider account with instances and bills. ``spec`` holds what its kind needs (doors.md)."""

    name = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=20)  # static, http, ...
    provider = models.CharField(max_length=60)
    spec = models.JSONField(default=dict)
    declared = models.JSONField(null=True, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)
    same_until = models.DateTimeField(null=True, blank=True)  # the list can't differ before that; None: ask every time
    removed_at = models.DateTimeField(null=True, blank=True)  # taken out of fleet.yaml; its past stays

    def __str__(self) -> str:
        return self.name


class Instance(models.Model):
    """A machine with GPUs, as it is now; known by (account, id, launched_at).

    A host that telemetry shows and no account knows has no account, its host name as id and the finding `unknown_host`.
    """

    account = models.ForeignKey(Account, null=True, blank=True, on_delete=models.CASCADE, related_name="instances")
    external_id = models.CharField(max_length=300)
    launched_at = models.DateTimeField(null=True, blank=True)
    last_started_at = models.DateTimeField(null=True, blank=True)
    host = models.CharField(max_length=300, blank=True, db_index=True)  # lower case
    # running stopping stopped stopped_billed terminated gone
    state = models.CharField(max_length=20, default="running")
    gpu_count = models.IntegerField(null=True, blank=True)
    attributes = models.JSONField(default=dict)  # the current InstanceVersion.attributes, for reading
    team = models.ForeignKey("people.Team", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")  # now
    first_seen_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """One row per launch."""

        constraints = [
            models.UniqueConstraint(
                fields=["account", "external_id", "launched_at"], nulls_distinct=False, name="instance_once"
            )
        ]

    def __str__(self) -> str:
        return self.external_id


class InstanceVersion(models.Model):
    """What an instance was from ``valid_from`` on (until the next version): the base of ownership and price.

    ``attributes``: provider, region, sku, gpu_model, gpu_count, purchase_option, profile, local_disk, disks, protected,
    group, owner, sub_account, tags, labels, host; money (`price_per_hour`) is `billing.InstancePrice`.
    """

    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="versions")
    valid_from = models.DateTimeField()
    attributes = models.JSONField(default=dict)

    class Meta:
        """One version per start."""

        constraints = [models.UniqueConstraint(fields=["instance", "valid_from"], name="instance_version_once")]

    def __str__(self) -> str:
        return f"{self.instance_id} from {self.valid_from}"


class InstanceState(models.Model):
    """A run of one provider state: half-open [start, end); the open one has no end."""

    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="states")
    start = models.DateTimeField()
    end = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=20)

    class Meta:
        """One run per start."""

        constraints = [models.UniqueConstraint(fields=["instance", "start"], name="instance_state_once")]

    def __str__(self) -> str:
        return f"{self.instance_id} {self.state} from {self.start}"
