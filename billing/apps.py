"""The Django app `billing`."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    """App configuration."""

    name = "billing"
