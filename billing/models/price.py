"""Prices with validity, source and date. What has no price is unpriced, never 0."""

from __future__ import annotations

from django.db import models


class Price(models.Model):
    """A price of a SKU or GPU model in [valid_from, valid_to). Empty text matches anything.

    ``unit``: instance_hour, gpu_hour, gb_month. ``source``: contract, list, manual, or where the suggested book
    has it from.
    ``is_suggested``: from the shipped price book ("list price"); a declared one always wins.
    """

    provider = models.CharField(max_length=60, blank=True)
    sku = models.CharField(max_length=200, blank=True)
    gpu_model = models.CharField(max_length=120, blank=True)
    gpu_count = models.IntegerField(null=True, blank=True)
    region = models.CharField(max_length=60, blank=True)
    purchase_option = models.CharField(max_length=20, blank=True)
    unit = models.CharField(max_length=20)
    price = models.DecimalField(max_digits=38, decimal_places=18)
    currency = models.CharField(max_length=3)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True)
    source = models.CharField(max_length=300)
    source_date = models.DateField(null=True, blank=True)
    is_suggested = models.BooleanField(default=False)
    declared = models.JSONField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.provider} {self.sku or self.gpu_model} {self.price} {self.currency}/{self.unit}"


class InstancePrice(models.Model):
    """The price per hour that an inventory gives for one instance, from ``valid_from`` on; wins over `Price`."""

    instance = models.ForeignKey("fleet.Instance", on_delete=models.CASCADE, related_name="+")
    valid_from = models.DateTimeField()
    price_per_hour = models.DecimalField(max_digits=38, decimal_places=18, null=True)  # None: no longer given
    currency = models.CharField(max_length=3)

    class Meta:
        """One per start."""

        constraints = [models.UniqueConstraint(fields=["instance", "valid_from"], name="instance_price_once")]

    def __str__(self) -> str:
        return f"{self.instance_id}: {self.price_per_hour} {self.currency}"
