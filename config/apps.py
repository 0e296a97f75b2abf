"""The Django app `config`."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """App configuration."""

    name = "config"
