"""What is collected for a server holds together: every file that a script imports is there under that name."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import LazySettings
from django.core.management import call_command


def test_scripts_import_files_that_were_collected(settings: LazySettings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["plotly*"])

    imports = [
        (script, found)
        for script in sorted((tmp_path / "js").glob("*.js"))
        for found in re.findall(r'from "(\./[^"]+)"', script.read_text(encoding="utf-8"))
    ]
    assert [name for _, name in imports], "app.js imports figures.js"
    assert [name for script, name in imports if not (script.parent / name).exists()] == []
