"""The Django app `demo`."""

from __future__ import annotations

from django.apps import AppConfig


class DemoConfig(AppConfig):
    """App configuration."""

    name = "demo"
