"""A process of the demo: what settings are when FLEETLEDGER_DEMO is on."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def demo_settings(settings: Any) -> Any:
    settings.IS_DEMO = True
    settings.METRIC_SOURCES = {"demo": "demo.sources.story.open_source"}
    settings.INSTANCE_PROVIDERS = {"static": "demo.providers.story.StoryProvider"}
    settings.ROOT_URLCONF = "demo.urls"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "demo.middleware.NameFiles"]
    template = settings.TEMPLATES[0]
    options = template["OPTIONS"]
    processors = [*options["context_processors"], "demo.context_processors.demo"]
    settings.TEMPLATES = [{**template, "OPTIONS": {**options, "context_processors": processors}}]
    return settings
