"""The environment: every setting, its file twin, and each mistake with its own id."""

from __future__ import annotations

from pathlib import Path

import pytest

from config import environment
from config.environment import BASE_FOLDER, NAMES, read

GOOD_KEY = "kX9fQ2" * 10


def ids(**variables: str) -> list[str]:
    return [problem.id.removeprefix("fleetledger.") for problem in read(variables).problems]


def test_an_empty_environment_is_fine() -> None:
    found = read({})
    assert found.problems == ()
    assert found.data_folder == BASE_FOLDER / "var"
    assert found.uses_embedded_engine
    assert found.get("FLEETLEDGER_ACT", "on") == "on"


def test_a_variable_that_is_empty_is_not_set() -> None:
    found = read({"DATABASE_URL": "", "PROMETHEUS_URL": ""})  # as docker compose writes ${PROMETHEUS_URL:-}
    assert found.problems == ()
    assert not found.is_set("DATABASE_URL")


def test_a_relative_data_folder_counts_from_the_checkout(tmp_path: Path) -> None:
    assert read({"FLEETLEDGER_DATA_DIR": "elsewhere"}).data_folder == BASE_FOLDER / "elsewhere"
    assert read({"FLEETLEDGER_DATA_DIR": str(tmp_path)}).data_folder == tmp_path.resolve()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgres://u:p@host:5432/db"),
        ("DATABASE_URL", "postgresql:///db?host=/run/postgresql"),
        ("CELERY_BROKER_URL", "redis://localhost:6379/0"),
        ("CELERY_BROKER_URL", "redis+socket:///run/redis.sock"),
        ("PROMETHEUS_URL", "https://user:pass@prom.example.com/prefix"),
        ("SECRET_KEY", GOOD_KEY),
        ("ALLOWED_HOSTS", "fleet.example.com, .example.org,[::1],*"),
        ("EMAIL_URL", "smtp+tls://user:pw@mail.example.com:587"),
        ("SLACK_BOT_TOKEN", "xoxb-123456789012"),
        ("SLACK_SIGNING_SECRET", "0123456789abcdef0123456789abcdef"),
        ("METRICS_TOKEN", "0123456789abcdef"),
        ("FLEETLEDGER_URL", "https://fleet.example.com:8443/"),
        ("FLEETLEDGER_ACT", "off"),
        ("FLEETLEDGER_SAMPLE_DAYS", "400"),
    ],
)
def test_good_values_from_variable_and_from_file(name: str, value: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{value}\n")
    for variables in ({name: value}, {f"{name}_FILE": str(secret)}):
        found = read(variables)
        assert found.problems == ()
        assert found.get(name) == value


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("FLEETLEDGER_ACTS", "on", "E001"),
        ("DATABASE_URL", "mysql://host/db", "E004"),
        ("DATABASE_URL", "sqlite:///db", "E004"),
        ("DATABASE_URL", "postgres://host", "E004"),
        ("DATABASE_URL", "postgres://host:port/db", "E004"),
        ("CELERY_BROKER_URL", "amqp://host", "E005"),
        ("PROMETHEUS_URL", "prometheus:9090", "E006"),
        ("PROMETHEUS_URL", "http://", "E006"),
        ("PROMETHEUS_URL", "http://[::1", "E006"),
        ("SECRET_KEY", "short", "E007"),
        ("SECRET_KEY", "a" * 60, "E007"),
        ("EMAIL_URL", "mail.example.com", "E008"),
        ("FLEETLEDGER_URL", "fleet.example.com", "E009"),
        ("FLEETLEDGER_URL", "https://fleet.example.com/path", "E009"),
        ("FLEETLEDGER_ACT", "yes", "E010"),
        ("ALLOWED_HOSTS", "https://fleet.example.com", "E011"),
        ("ALLOWED_HOSTS", "fleet.example.com:8000", "E011"),
        ("FLEETLEDGER_SAMPLE_DAYS", "7", "E014"),
        ("FLEETLEDGER_SAMPLE_DAYS", "a week", "E014"),
        ("SLACK_BOT_TOKEN", "xoxb", "E012"),
        ("METRICS_TOKEN", "two words and more", "E012"),
    ],
)
def test_each_mistake_has_its_id_and_a_hint_and_its_value_is_not_used(name: str, value: str, problem: str) -> None:
    found = read({name: value})
    assert [one.id for one in found.problems] == [f"fleetledger.{problem}"]
    assert all(one.hint for one in found.problems)
    assert not found.is_set(name)


@pytest.mark.parametrize("name", ["DATABASE_URL", "CELERY_BROKER_URL", "PROMETHEUS_URL", "EMAIL_URL", "SECRET_KEY"])
def test_no_problem_tells_a_secret(name: str) -> None:
    (problem,) = read({name: "nonsense://user:hunter22@host:port/x" if name != "SECRET_KEY" else "hunter22"}).problems
    assert "hunter22" not in str(problem)


def test_an_unknown_name_gets_the_nearest_right_one() -> None:
    (problem,) = read({"FLEETLEDGER_DATADIR": "x"}).problems
    assert problem.hint == "Did you mean FLEETLEDGER_DATA_DIR?"


def test_files(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_text(GOOD_KEY)
    assert ids(SECRET_KEY=GOOD_KEY, SECRET_KEY_FILE=str(good)) == ["E002"]
    assert ids(SECRET_KEY_FILE=str(tmp_path / "none")) == ["E003"]
    assert ids(SECRET_KEY_FILE=str(tmp_path)) == ["E003"]
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    assert ids(SECRET_KEY_FILE=str(tmp_path / "binary")) == ["E003"]


def test_a_persons_password_comes_from_a_file_only(tmp_path: Path) -> None:
    assert ids(ADMIN_PASSWORD="a long enough one") == ["E002"]
    (tmp_path / "short").write_text("short\n")
    assert ids(ADMIN_PASSWORD_FILE=str(tmp_path / "short")) == ["E013"]
    (tmp_path / "good").write_text("a long enough one\n")
    assert read({"ADMIN_PASSWORD_FILE": str(tmp_path / "good")}).get("ADMIN_PASSWORD") == "a long enough one"


def test_all_problems_are_told_at_once_in_one_order() -> None:
    assert ids(FLEETLEDGER_X="1", FLEETLEDGER_ACT="x", DATABASE_URL="x") == ["E001", "E004", "E010"]


def test_the_page_of_settings_names_every_setting_and_every_id() -> None:
    page = (BASE_FOLDER / "docs/reference/settings.md").read_text(encoding="utf-8")
    source = Path(environment.__file__).read_text(encoding="utf-8")
    missing = [name for name in NAMES if f"`{name}" not in page]
    missing += [f"E{number:03}" for number in range(1, 15) if f"fleetledger.E{number:03}" not in page]
    assert missing == []
    assert all(f"fleetledger.E{number:03}" in source for number in range(1, 15))
