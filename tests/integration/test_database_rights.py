"""What the application may do in the embedded database: all it needs, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from config.embedded import hold_engine
from config.embedded.cluster import OWNER
from tests.support.installation import Installation

EVENT = "(at, by, action, subject_kind, subject, reason, details) VALUES (now(), 'a', 'b', 'c', 'd', '', '{}')"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    one = Installation(tmp_path_factory.mktemp("rights") / "var")
    done = one.manage("migrate", "--verbosity=0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    hold = hold_engine(one.folder)
    yield one
    hold.release()


def test_the_audit_trail_takes_events_and_keeps_them(installation: Installation) -> None:
    installation.sql(f"INSERT INTO people_auditevent {EVENT}")
    for statement in (
        "UPDATE people_auditevent SET by = 'x'",
        "DELETE FROM people_auditevent",
        "TRUNCATE people_auditevent",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"):
            installation.sql(statement)
    assert installation.sql("SELECT by FROM people_auditevent") == [("a",)]


def test_not_even_the_owner_changes_the_audit_trail(installation: Installation) -> None:
    installation.sql(f"INSERT INTO people_auditevent {EVENT}", OWNER)
    for statement in ("UPDATE people_auditevent SET by = 'x'", "DELETE FROM people_auditevent"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            installation.sql(statement, OWNER)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM django_migrations",
        "ALTER TABLE people_auditevent DISABLE TRIGGER ALL",
        "DROP TABLE people_auditevent",
        "SET ROLE fleetledger_owner",
        "CREATE ROLE another SUPERUSER",
        "COPY people_user TO PROGRAM 'cat'",
    ],
)
def test_the_application_is_no_owner(installation: Installation, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        installation.sql(statement)


def test_the_application_makes_and_drops_partitions(installation: Installation) -> None:
    parents = [str(name) for (name,) in installation.sql("SELECT relname FROM pg_class WHERE relkind = 'p' ORDER BY 1")]
    assert parents
    for parent in parents:
        bounds = "FROM ('2041-01-01') TO ('2041-02-01')"
        installation.sql(f'CREATE TABLE "{parent}_2041" PARTITION OF "{parent}" FOR VALUES {bounds}')
        installation.sql(f'DROP TABLE "{parent}_2041"')


def test_migrating_again_changes_nothing(installation: Installation) -> None:
    rights = "SELECT relname, relacl::text, relowner FROM pg_class WHERE relkind IN ('r', 'p') ORDER BY 1"
    before = installation.sql(rights)
    assert installation.manage("migrate", "--verbosity=0").returncode == 0
    assert installation.sql(rights) == before


def test_a_whole_pass_runs_in_a_new_month(installation: Installation) -> None:
    """Months are made with the owner's rights; what reads them is the application."""
    for at in ("2031-04-30T23:00:00Z", "2031-05-01T00:00:00Z"):
        done = installation.manage("tick", "--at", at, "--json")
        assert done.returncode == 0, done.stderr
