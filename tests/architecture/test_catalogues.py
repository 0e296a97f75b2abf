"""Every word of the pages is there in every language: the catalogues are current, whole, and compiled as they stand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation import to_locale

from tests.architecture.tree import APPS, ROOT, files
from tests.support.processes import require_program

CATALOGUES = sorted((ROOT / "locale").glob("*/LC_MESSAGES/django.po"))
COLLECT = [sys.executable, "-m", "django", "makemessages", "--all", "--no-location", "--no-obsolete", "--no-wrap"]


def without_date(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if "POT-Creation-Date" not in line]


def test_there_is_a_catalogue_for_each_language_but_english() -> None:
    wanted = sorted(to_locale(code) for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE)
    assert [path.parts[-3] for path in CATALOGUES] == wanted


def test_catalogues_hold_what_the_pages_say_today(tmp_path: Path) -> None:
    require_program("xgettext")
    for path in files():
        place = path.relative_to(ROOT)
        if place.parts[0] in {*APPS, "templates", "locale"}:
            (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, tmp_path / place)
    environment = {"PYTHONPATH": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    subprocess.run(COLLECT, cwd=tmp_path, env=os.environ | environment, check=True, capture_output=True)
    for path in CATALOGUES:
        assert without_date(tmp_path / path.relative_to(ROOT)) == without_date(path), "run `make messages`"


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_nothing_is_untranslated_or_doubtful(path: Path) -> None:
    tool = require_program("msgattrib")
    for what in ("--untranslated", "--only-fuzzy"):
        found = subprocess.run([tool, what, "--no-obsolete", path], check=True, capture_output=True, text=True).stdout
        assert found.count("\nmsgid ") == 0, f"{what}: {found}"


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_the_compiled_catalogue_is_this_one(path: Path, tmp_path: Path) -> None:
    made = tmp_path / "django.mo"
    subprocess.run([require_program("msgfmt"), "--check", "-o", made, path], check=True, capture_output=True)
    assert made.read_bytes() == path.with_suffix(".mo").read_bytes(), "run `make messages`"
