"""The Django app `fleet`."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    """App configuration."""

    name = "fleet"
