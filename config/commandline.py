"""What `manage.py` does before Django takes over: bring the database up, then run the command."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.management import ManagementUtility


def run(argv: Sequence[str]) -> int:
    """Run the command in ``argv``; return its exit code."""
    utility = ManagementUtility(list(argv))
    utility.execute()
    return 0
