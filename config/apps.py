"""The Django app `config`."""

from __future__ import annotations

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """App configuration."""

    name = "config"

    def ready(self) -> None:
        """Start logging and register the checks of the environment."""
        from django.conf import settings

        from config import checks
        from config.logs import start_logging

        start_logging(settings.LOGGING)
        checks.register()
