"""Print the OpenAPI document: `make openapi` keeps it in docs/reference/openapi.yaml."""

from __future__ import annotations

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from config.api.document import openapi_yaml  # noqa: E402 - the routes need a set-up Django

sys.stdout.write(openapi_yaml())
