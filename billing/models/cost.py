"""Provisional cost (metered x price) until billed, and the daily totals that pages read."""

from __future__ import annotations

from django.db import models


def amount() -> models.DecimalField:
    """Give a column for a computed amount: nine decimals, see `common.money.PLACES`."""
    return models.DecimalField(max_digits=38, decimal_places=9, null=True)


def total() -> models.DecimalField:
    """Give a column for a sum of computed amounts."""
    return models.DecimalField(max_digits=38, decimal_places=9, default=0)


class GpuHourCost(models.Model):
    """The money of one `fleet.GpuHour` row (same key), split by state.

    The amounts of all rows of an instance-hour sum exactly to price x running time (rounded once, half to even, to
    nine decimals). ``unpriced_ms`` is the part of the row's running time that has no price; the amounts are null
    when that is all of it, never 0. ``currency`` is in the key since a price may change its currency within an hour.
    Partitioned by month of ``hour``, like GpuHour.
    """

    pk = models.CompositePrimaryKey("hour", "instance_id", "gpu_ref", "share", "currency")
    hour = models.DateTimeField()
    instance = models.ForeignKey(
        "fleet.Instance", on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    gpu_ref = models.BigIntegerField(default=0)
    share = models.SmallIntegerField(default=0)
    currency = models.CharField(max_length=3)
    counts_time = models.BooleanField(default=True)  # only the first currency of an hour counts the row's time
    is_list_price = models.BooleanField(default=False)  # from the suggested price book
    unpriced_ms = models.BigIntegerField(default=0)
    working = amount()  # without low
    low = amount()
    held = amount()
    empty = amount()
    unknown = amount()
    stopped = amount()  # billed while stopped (stopped_billed)

    class Meta:
        """Read by hour and by instance."""

        indexes = [models.Index(fields=["instance", "hour"], name="gpu_hour_cost_of_instance")]

    def __str__(self) -> str:
        return f"{self.instance_id}/{self.gpu_ref} {self.hour}"


class InstanceHourCost(models.Model):
    """What an instance costs beside compute in an hour: storage, network, other. ``kind`` names it.

    ``amount`` is null when there is no price. ``part_start_minute`` as in `fleet.GpuHour`; ``team`` and ``owner``
    are those of the instance at the time, ``share`` numbers them when they change within the hour.
    """

    hour = models.DateTimeField()
    instance = models.ForeignKey("fleet.Instance", on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10)  # storage, network, other
    share = models.SmallIntegerField(default=0)
    part_start_minute = models.SmallIntegerField(default=0)
    team = models.ForeignKey("people.Team", null=True, on_delete=models.PROTECT, related_name="+")
    owner = models.CharField(max_length=254, blank=True)
    currency = models.CharField(max_length=3)
    amount = models.DecimalField(max_digits=38, decimal_places=9, null=True)

    class Meta:
        """One row per kind, share and currency."""

        constraints = [
            models.UniqueConstraint(
                fields=["hour", "instance", "kind", "share", "currency"], name="instance_hour_cost_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.instance_id} {self.hour} {self.kind}"


class TeamDay(models.Model):
    """A team's local day per account, GPU model and currency: money and GPU-milliseconds by state. Kept for ever.

    ``team`` null is Unassigned; ``account`` null are hosts that no account knows. Pages of teams and the overview
    read only this table. Made anew from the hours of the days that changed (`billing.actions.team_days`).
    ``unpriced_ms`` is the part of the running time without a price: its money is in none of the amounts.
    ``list_price_amount`` is the part of the compute amounts that rests on suggested list prices.
    """

    day = models.DateField()
    team = models.ForeignKey("people.Team", null=True, on_delete=models.PROTECT, related_name="+")
    account = models.ForeignKey("fleet.Account", null=True, on_delete=models.CASCADE, related_name="+")
    gpu_model = models.CharField(max_length=120, blank=True)
    currency = models.CharField(max_length=3)
    compute_working = total()
    compute_low = total()
    compute_held = total()
    compute_empty = total()
    compute_unknown = total()
    compute_stopped = total()
    storage = total()
    network = total()
    other = total()
    list_price_amount = total()
    working_ms = models.BigIntegerField(default=0)
    low_ms = models.BigIntegerField(default=0)
    held_ms = models.BigIntegerField(default=0)
    empty_ms = models.BigIntegerField(default=0)
    unknown_ms = models.BigIntegerField(default=0)
    unpriced_ms = models.BigIntegerField(default=0)
    unpriced_disk_hours = models.IntegerField(default=0)  # hours in which some disk had no price

    class Meta:
        """One row per cell."""

        constraints = [
            models.UniqueConstraint(
                fields=["day", "team", "account", "gpu_model", "currency"], nulls_distinct=False, name="team_day_once"
            )
        ]
        indexes = [models.Index(fields=["team", "day"], name="team_day_of_team")]

    def __str__(self) -> str:
        return f"{self.team_id} {self.day}"


class StaleDay(models.Model):
    """A local day whose team-days must be made anew: written with the hours that changed, in one transaction."""

    day = models.DateField(unique=True)

    def __str__(self) -> str:
        return str(self.day)


class PricingBasis(models.Model):
    """What the stored costs rest on (one row): by comparing it with what holds now, a pass finds what to price again.

    ``prices``: row id of `Price` -> [valid_from, valid_to, digest]. ``time_zone``: the zone whose days team-days are.
    """

    prices = models.JSONField(default=dict)
    time_zone = models.CharField(max_length=64, blank=True)

    class Meta:
        """There is one."""

        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="one_pricing_basis")]

    def __str__(self) -> str:
        return f"{len(self.prices)} prices"
