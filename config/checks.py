"""Django's system checks over our environment: the same ids and hints as at start."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks


def check_environment(**_options: Any) -> list[checks.CheckMessage]:
    """Give one error for each problem of the environment."""
    return [
        checks.Error(problem.message, hint=problem.hint, id=problem.id) for problem in settings.ENVIRONMENT.problems
    ]


def register() -> None:
    """Make the check run with all others."""
    checks.register(check_environment)
