"""Models and their migrations agree, without asking a database."""

from __future__ import annotations

from django.apps import apps
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState


def test_every_change_of_a_model_has_its_migration() -> None:
    loader = MigrationLoader(None)
    assert loader.detect_conflicts() == {}
    changes = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps)).changes(graph=loader.graph)
    assert {
        app: [str(operation) for one in found for operation in one.operations] for app, found in changes.items()
    } == {}
