"""The Django app `alerts`."""

from django.apps import AppConfig


class AlertsConfig(AppConfig):
    """App configuration."""

    name = "alerts"
