"""The door `apply`: its JSON, its exit codes, its clock; two at once."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from fleet.models import IdleRuleVersion, Instance, InstanceVersion
from people.models import Installation, Team
from tests.support.declared import EXAMPLE, NOW, nothing_changes, utc


def run(*arguments: str) -> tuple[Any, int]:
    """Run `apply --json`; give its document and exit code."""
    out = io.StringIO()
    try:
        call_command("apply", *arguments, "--json", stdout=out, stderr=io.StringIO())
    except SystemExit as leaving:
        return json.loads(out.getvalue()), int(str(leaving.code))
    return json.loads(out.getvalue()), 0


@pytest.mark.django_db
def test_the_document() -> None:
    document, code = run(str(EXAMPLE))
    assert code == 0
    assert list(document) == ["created", "changed", "removed", "unchanged", "warnings"]
    assert document["created"][0] == {"kind": "organization", "name": "Example Robotics"}
    assert document["warnings"][0]["where"] == {"file": str(EXAMPLE), "line": 95, "key": "policies[0].mode"}


@pytest.mark.django_db
def test_a_dry_run_writes_nothing() -> None:
    Installation.objects.create(pk=1)
    with nothing_changes():
        assert run(str(EXAMPLE), "--dry-run")[1] == 0


@pytest.mark.django_db
def test_bad_input_leaves_with_two(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text("teams: [{nam: x}]\npolices: []\n", encoding="utf-8")
    document, code = run(str(path))
    assert code == 2
    assert document["error"] == {
        "code": "unknown_key",
        "message": "'nam' is no key of teams[0].",
        "hint": "Did you mean name?",
        "where": {"file": str(path), "line": 1, "key": "teams[0].nam"},
    }
    assert [error["code"] for error in document["errors"]] == ["unknown_key", "missing_key", "unknown_key"]


@pytest.mark.django_db
def test_a_change_holds_from_at_else_from_the_world_under_replay(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    for number, (at, world) in enumerate([(None, None), ("2025-06-03T00:00:00Z", None), (None, "2025-06-05T00:00")]):
        if world:
            Installation.objects.update_or_create(pk=1, defaults={"clock": "replay", "world_at": utc(world)})
        path.write_text(f"organization: {{name: Lab, idle: {{window: {number + 1}h}}}}\n", encoding="utf-8")
        assert run(str(path), *(["--at", at] if at else []))[1] == 0
    starts = list(IdleRuleVersion.objects.order_by("valid_from").values_list("valid_from", flat=True))
    assert starts[1:] == [utc("2025-06-03T00:00"), utc("2025-06-05T00:00")]


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    from config.declared.apply import apply_file

    failures: list[BaseException] = []

    def work(number: int) -> None:
        path = tmp_path / f"{number}.yaml"
        path.write_text(
            f"teams: [{{name: nlp, cost_center: C{number}}}]\nownership: [{{team: nlp}}]\n"
            f"accounts: [{{name: lab, kind: static, provider: aws, instances: [{{id: a, tags: {{n: t{number}}}}}]}}]\n",
            encoding="utf-8",
        )
        try:
            apply_file(path, now=NOW)
        except Exception as error:  # noqa: BLE001  told by the main thread
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    team, instance = Team.objects.get(), Instance.objects.get()
    assert instance.attributes["tags"] == {"n": f"t{team.cost_center[1:]}"}
    assert InstanceVersion.objects.order_by("-valid_from").first().attributes == instance.attributes  # type: ignore[union-attr]
