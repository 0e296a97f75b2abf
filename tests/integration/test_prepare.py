"""`prepare` and what every command does first: migrate once, make one login, collect in a second, say nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded import hold_engine
from config.embedded.cluster import OWNER
from tests.support.installation import CHECKOUT, Installation


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Two processes prepare a fresh folder at the same time."""
    one = Installation(tmp_path_factory.mktemp("prepare") / "var")
    command = [sys.executable, str(CHECKOUT / "manage.py"), "prepare"]
    both = [
        subprocess.Popen(command, env=one.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=100) for process in both]
    assert [process.returncode for process in both] == [0, 0], answers
    one.said = "".join(out + err for out, err in answers)
    yield one
    one.kill_all()


def test_one_login_is_made_and_told_once(installation: Installation) -> None:
    assert re.fullmatch(r"First sign-in: admin@localhost, password \S{16} \(shown only now\)\n", installation.said)
    hold = hold_engine(installation.folder)
    assert installation.sql(
        "SELECT email, role, team_id FROM people_user u JOIN people_rolegrant g ON g.user_id = u.id"
    ) == [("admin@localhost", "admin", None)]
    (stored,) = installation.sql("SELECT password FROM people_user")
    assert str(stored[0]).startswith("argon2$argon2id$")
    assert installation.sql("SELECT action, by FROM people_auditevent") == [("first_login", "system")]
    hold.release()


def test_again_it_says_nothing(installation: Installation) -> None:
    done = installation.manage("prepare")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_static_files_are_collected_with_hashed_names_and_compressed(installation: Installation) -> None:
    names = sorted(path.name for path in (installation.folder.static / "plotly").iterdir())
    assert [re.sub(r"\.[0-9a-f]{12}\.", ".HASH.", name) for name in names] == [
        "plotly.min.HASH.js",
        "plotly.min.HASH.js.br",
        "plotly.min.HASH.js.gz",
    ]


def test_a_lost_password_is_made_anew(installation: Installation) -> None:
    done = installation.manage("set_password", "Admin@localhost", "--json")
    assert set(json.loads(done.stdout)) == {"email", "password"}
    assert done.stderr == ""
    refused = installation.manage("set_password", "nobody@example.com", "--json")
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["error"]["code"] == "unknown_person"


def test_rights_that_a_kill_kept_from_being_given_are_given_later(installation: Installation) -> None:
    hold = hold_engine(installation.folder)
    installation.sql("REVOKE ALL ON people_team FROM fleetledger_app", OWNER)
    assert installation.manage("prepare").returncode == 0
    assert installation.sql("SELECT count(*) FROM people_team") == [(0,)]
    hold.release()


def test_prometheus_url_makes_the_default_source(installation: Installation) -> None:
    def sources() -> list[tuple[object, ...]]:
        return installation.sql("SELECT name, kind, spec->>'url' FROM fleet_source")

    hold = hold_engine(installation.folder)
    assert sources() == []
    for url in ("http://127.0.0.1:9090", "http://127.0.0.1:9091", "http://127.0.0.1:9091"):
        assert installation.manage("prepare", PROMETHEUS_URL=url).returncode == 0
        assert sources() == [("default", "prometheus", url)]
    installation.sql("UPDATE fleet_source SET declared = '{}'")
    assert installation.manage("prepare", PROMETHEUS_URL="http://127.0.0.1:9092").returncode == 0
    assert sources() == [("default", "prometheus", "http://127.0.0.1:9091")]
    hold.release()


def test_a_password_from_a_file_is_not_shown(tmp_path: Path) -> None:
    installation = Installation(tmp_path / "var")
    (tmp_path / "password").write_text("correct horse battery\n")
    done = installation.manage("prepare", ADMIN_PASSWORD_FILE=str(tmp_path / "password"))
    assert done.stdout == "First sign-in: admin@localhost, the password in ADMIN_PASSWORD_FILE\n"
    assert "correct horse" not in done.stderr
