"""What one key alone can't tell: names that must be there, that must be there once, that must agree."""

from __future__ import annotations

from contextlib import suppress

from config.declared.checks.agreement import check_agreement
from config.declared.checks.instances import check_instances
from config.declared.checks.ladders import check_policies
from config.declared.checks.names import check_doubles, check_references
from config.declared.checks.prices import check_prices
from config.declared.convert import EnoughErrors
from config.declared.document import Document


def check_document(document: Document, *, prune: bool) -> None:
    """Add all errors and warnings of a typed file to it. ``prune``: names of rows that will go are not known."""
    with suppress(EnoughErrors):
        check_doubles(document)
        check_references(document, prune=prune)
        check_agreement(document)
        check_instances(document)
        check_prices(document)
        check_policies(document)
