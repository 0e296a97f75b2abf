"""The Django app `people`."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """App configuration."""

    name = "people"
