"""What is wrong in a file: told with line, key and remedy, and nothing is applied."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pytest_django import Settings

from common.errors import BadInput, BadInputs
from config.declared.apply import apply_file
from tests.support.declared import EXAMPLE, NOW, apply_text, nothing_changes, refusal

pytestmark = pytest.mark.django_db

FLEET = """\
organization: {name: Lab, currency: USD, time_zone: UTC}
teams:
  - {name: research}
  - {name: nlp, parent: research}
people:
  - {email: dev@example.com, name: Dev, roles: [{role: engineer, team: nlp}]}
ownership:
  - {team_from: {tag: team}}
sources:
  - {name: main, kind: prometheus, url: "http://127.0.0.1:9090"}
accounts:
  - name: lab
    kind: static
    provider: on-prem
    instances:
      - {id: i-1, host: node-1, gpu_count: 8, state: running, price_per_hour: "16.00", launched_at: 2025-06-02}
      - {id: i-2, host: node-2, gpu_count: 8}
prices:
  - {provider: aws, gpu_model: H100, price_per_hour: "2.00", unit: gpu_hour, valid_from: 2025-01-01}
policies:
  - name: dev
    select: {teams: [nlp], accounts: [lab]}
    idle: {window: 60m}
    ladder:
      - {after: 60m, do: notify}
      - {after: 4h, do: stop}
exemptions:
  - {instance: i-1, reason: deadline}
budgets:
  - {name: nlp, team: nlp, amount: "100"}
channels:
  - {name: mail, kind: email}
  - {name: hook, kind: webhook, url: "http://127.0.0.1:8098/hook"}
routes:
  - {match: {teams: [nlp], kinds: [idle]}, channels: [mail], fallback: [hook]}
mappings:
  - {name: daily, columns: {BilledCost: cost}}
"""

WRONG = [
    ("teams:", "tems:", ("unknown_key", 2, "tems")),
    ("gpu_count: 8, state", "gpu_cnt: 8, state", ("unknown_key", 16, "accounts[0].instances[0].gpu_cnt")),
    ("window: 60m", "window: 60", ("bad_duration", 23, "policies[0].idle.window")),
    ("window: 60m", "threshold_pct: 5%", ("bad_number", 23, "policies[0].idle.threshold_pct")),
    ('"16.00"', '"$16.00"', ("bad_number", 16, "accounts[0].instances[0].price_per_hour")),
    ("state: running", "state: runnning", ("bad_choice", 16, "accounts[0].instances[0].state")),
    (
        "launched_at: 2025-06-02",
        "launched_at: 2025-06-02T08:00:00",
        ("bad_time", 16, "accounts[0].instances[0].launched_at"),
    ),
    ("parent: research", "parent: reserch", ("unknown_team", 4, "teams[1].parent")),
    ("{name: research}", "{name: research, parent: nlp}", ("team_circle", 3, "teams[0].parent")),
    ("{name: research}", "{name: NLP}", ("duplicate_name", 4, "teams[1].name")),
    ("team: nlp}]}", "team: npl}]}", ("unknown_team", 6, "people[0].roles[0].team")),
    ("role: engineer", "role: enginer", ("bad_choice", 6, "people[0].roles[0].role")),
    ("{team_from: {tag: team}}", "{team: vision}", ("unknown_team", 8, "ownership[0].team")),
    ("{team_from: {tag: team}}", "{match: {host: x}}", ("one_of", 8, "ownership[0]")),
    ("{team_from: {tag: team}}", "{team: nlp, match: {hots: x}}", ("unknown_key", 8, "ownership[0].match.hots")),
    ("kind: prometheus", "kind: promethus", ("bad_choice", 10, "sources[0].kind")),
    ("kind: prometheus, ", "", ("missing_key", 10, "sources[0]")),
    ('"http://127.0.0.1:9090"', '"http://u:p@127.0.0.1"', ("secret_in_url", 10, "sources[0].url")),
    ('"http://127.0.0.1:9090"', '"localhost:9090"', ("bad_url", 10, "sources[0].url")),
    ("kind: static", "kind: statik", ("bad_choice", 13, "accounts[0].kind")),
    ("id: i-2", "id: i-1", ("duplicate_name", 17, "accounts[0].instances[1].id")),
    ("host: node-2", "profile: interactiv", ("unknown_profile", 17, "accounts[0].instances[1].profile")),
    (
        "host: node-2",
        "state: running, stopped_at: 2025-06-03",
        ("state_disagrees", 17, "accounts[0].instances[1].stopped_at"),
    ),
    (
        "state: running",
        "last_started_at: 2025-06-01",
        ("times_disagree", 16, "accounts[0].instances[0].last_started_at"),
    ),
    (
        "gpu_count: 8}",
        "history: [{at: 2025-06-03, state: stopped}, {at: 2025-06-02, state: running}]}",
        ("history_order", 17, "accounts[0].instances[1].history"),
    ),
    (
        "gpu_count: 8}",
        "state: running, history: [{at: 2025-06-03, state: stopped}]}",
        ("state_disagrees", 17, "accounts[0].instances[1].state"),
    ),
    ("unit: gpu_hour", "unit: gpuhour", ("bad_choice", 19, "prices[0].unit")),
    ('price_per_hour: "2.00"', 'price_per_hour: "-2.00"', ("out_of_bounds", 19, "prices[0].price_per_hour")),
    (
        "policies:",
        '  - {provider: AWS, gpu_model: h100, price: "3", unit: gpu_hour, valid_from: 2025-06-01}\npolicies:',
        ("overlapping_prices", 20, "prices[1]"),
    ),
    (
        "policies:",
        "  - {gpu_model: H100, provider: aws, currency: USD, price: 3, unit: gpu_hour}\npolicies:",
        ("overlapping_prices", 20, "prices[1]"),
    ),
    (
        "valid_from: 2025-01-01",
        "valid_from: 2025-01-01, valid_to: 2025-01-01",
        ("period_backwards", 19, "prices[0].valid_to"),
    ),
    ("teams: [nlp], accounts", "teams: [nip], accounts", ("unknown_team", 22, "policies[0].select.teams[0]")),
    ("accounts: [lab]", "accounts: [labs]", ("unknown_account", 22, "policies[0].select.accounts[0]")),
    ("accounts: [lab]", "purchase_options: [cheap]", ("bad_choice", 22, "policies[0].select.purchase_options[0]")),
    ("after: 60m, do: notify", "after: 60m, do: stop", ("ladder_without_notice", 25, "policies[0].ladder[0].do")),
    ("after: 4h", "after: 30m", ("ladder_order", 26, "policies[0].ladder[1].after")),
    ("after: 4h, do", "after: 4h, stopped_for: 4h, do", ("one_of", 26, "policies[0].ladder[1]")),
    ("after: 4h", "when: never_active, after: 4h", ("ladder_without_notice", 26, "policies[0].ladder[1].do")),
    ("instance: i-1", "instance: i-3", ("unknown_instance", 28, "exemptions[0].instance")),
    ("instance: i-1, ", "", ("missing_key", 28, "exemptions[0].instance")),
    ("reason: deadline", "reason: deadline, until: tomorrow", ("bad_time", 28, "exemptions[0].until")),
    ("team: nlp, amount", "team: nlp, account: lab, amount", ("one_of", 30, "budgets[0].account")),
    ('amount: "100"', 'amount: "100", currency: dollars', ("bad_currency", 30, "budgets[0].currency")),
    ('amount: "100"', 'amount: "100", period: custom', ("missing_key", 30, "budgets[0].period")),
    ('amount: "100"', 'amount: "100", gpu_hours: 5', ("one_of", 30, "budgets[0]")),
    ("kind: email}", "kind: email, to: dev}", ("bad_email", 32, "channels[0].to[0]")),
    ("kind: email}", "kind: slack_webhook, url: xoxb-hunter2}", ("bad_secret", 32, "channels[0].url")),
    ('hook"}', 'hook", secret: hunter2}', ("bad_secret", 33, "channels[1].secret")),
    ('hook"}', 'hook", secret: env:DATABASE_URL}', ("forbidden_secret", 33, "channels[1].secret")),
    (
        '"http://127.0.0.1:8098/hook"',
        '"https://hooks.example.com", test: true',
        ("test_not_loopback", 33, "channels[1].test"),
    ),
    ("channels: [mail]", "channels: [male]", ("unknown_channel", 35, "routes[0].channels[0]")),
    ("fallback: [hook]", "fallback: [hock]", ("unknown_channel", 35, "routes[0].fallback[0]")),
    ("kinds: [idle]", "kinds: [ideal]", ("bad_choice", 35, "routes[0].match.kinds[0]")),
    ("columns: {BilledCost: cost}", "columns: [cost]", ("not_a_mapping", 37, "mappings[0].columns")),
    ("currency: USD", "currency: usd", ("bad_currency", 1, "organization.currency")),
    ("time_zone: UTC", "time_zone: Mars/Base", ("bad_time_zone", 1, "organization.time_zone")),
    ("time_zone: UTC", "idle: {window: 10m}", ("out_of_bounds", 1, "organization.idle.window")),
    (
        "time_zone: UTC",
        'working_hours: {days: [mon], from: "20:00", to: "08:00"}',
        ("period_backwards", 1, "organization.working_hours.to"),
    ),
    ("name: Lab,", "name: Lab, name: Lab,", ("duplicate_key", 1, "name")),
    ("sources:", "sources: main\nmore:", ("not_a_list", 9, "sources")),
    ("name: Lab", "name: [Lab]", ("not_a_value", 1, "organization.name")),
]


@pytest.mark.parametrize(("old", "new", "error"), WRONG, ids=[f"{code}-{key}" for _, _, (code, _, key) in WRONG])
def test_each_error_has_its_place(tmp_path: Path, old: str, new: str, error: tuple[str, int, str]) -> None:
    assert old in FLEET
    assert error in refusal(tmp_path, FLEET.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("teams:", "tems:", "Did you mean teams?"),
        ("gpu_count: 8, state", "gpu_cnt: 8, state", "Did you mean gpu_count?"),
        ("parent: research", "parent: Reserch", "Did you mean research?"),
        ("channels: [mail]", "channels: [male]", "Did you mean mail?"),
        ("instance: i-1", "instance: lab/i1", "Did you mean lab/i-1?"),
        ("state: running", "state: runing", "Did you mean running?"),
    ],
)
def test_the_nearest_right_word_is_named(tmp_path: Path, old: str, new: str, hint: str) -> None:
    with pytest.raises(BadInputs) as raised:
        apply_text(tmp_path, FLEET.replace(old, new, 1))
    assert raised.value.hint == hint


def test_all_errors_are_told_at_once_in_order(tmp_path: Path) -> None:
    text = FLEET
    for old, new, _ in (WRONG[0], WRONG[2], WRONG[4], WRONG[15]):
        text = text.replace(old, new, 1)
    found = refusal(tmp_path, text)
    assert [line for _, line, _ in found] == sorted(line for _, line, _ in found if line)
    assert {error for _, _, error in (WRONG[0], WRONG[2], WRONG[4], WRONG[15])} <= set(found)


def test_the_file_itself_is_fine(tmp_path: Path) -> None:
    assert len(apply_text(tmp_path, FLEET)["created"]) == 17


@pytest.mark.parametrize("at", [0, 700, len(FLEET)])
def test_a_file_that_was_applied_stays_when_the_next_one_is_wrong(tmp_path: Path, at: int) -> None:
    apply_text(tmp_path, FLEET)
    line = FLEET.rfind("\n", 0, at) + 1
    refusal(tmp_path, FLEET[:line] + "nonsense: 1\n" + FLEET[line:])


def test_many_errors_are_cut_to_a_hundred(tmp_path: Path) -> None:
    assert len(refusal(tmp_path, "\n".join(f"x{number}: 1" for number in range(500)))) == 100


def test_an_instance_in_two_accounts_must_be_named_with_its_account(tmp_path: Path) -> None:
    other = "  - {name: two, kind: static, provider: aws, instances: [{id: i-1}]}\nprices:"
    text = FLEET.replace("prices:", other, 1)
    assert ("ambiguous_instance", 29, "exemptions[0].instance") in refusal(tmp_path, text)
    apply_text(tmp_path, text.replace("instance: i-1", "instance: two/i-1"))


def test_an_exemption_may_name_what_an_api_will_list(tmp_path: Path) -> None:
    listing = "{method: GET, path: /, fields: {id: id}, states: {running: r}}"
    http = f"  - {{name: two, kind: http, provider: x, base_url: 'http://127.0.0.1', list: {listing}}}\nprices:"
    text = FLEET.replace("prices:", http, 1).replace("instance: i-1", "instance: i-9")
    assert [warning["code"] for warning in apply_text(tmp_path, text)["warnings"]] == ["unknown_instance"]


def test_test_true_wants_loopback_in_a_named_address_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "channels:\n  - {name: hook, kind: webhook, url: env:HOOK_URL, test: true}\n"
    monkeypatch.setenv("HOOK_URL", "https://hooks.example.com/secret")
    assert refusal(tmp_path, text) == [("test_not_loopback", 2, "channels[0].test")]
    monkeypatch.setenv("HOOK_URL", "http://127.0.0.1:8098/hook")
    apply_text(tmp_path, text)


@pytest.mark.parametrize("server", ["", "smtp://mail.example.com:25"])
def test_mail_under_test_wants_a_server_on_loopback(tmp_path: Path, settings: Settings, server: str) -> None:
    text = "channels:\n  - {name: mail, kind: email, test: true}\n"
    settings.EMAIL_URL = server
    assert refusal(tmp_path, text) == [("test_not_loopback", 2, "channels[0].test")]
    settings.EMAIL_URL = "smtp://127.0.0.1:2525"
    apply_text(tmp_path, text)


def test_a_secret_value_is_never_told(tmp_path: Path) -> None:
    with nothing_changes(), pytest.raises(BadInputs) as raised:
        apply_text(tmp_path, "sources:\n  - {name: a, kind: prometheus, url: 'http://p', auth: {bearer: hunter2}}\n")
    assert "hunter2" not in str([error.as_json() for error in raised.value.errors])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with nothing_changes(), pytest.raises(BadInput) as raised:
        apply_file(tmp_path / "none.yaml", now=NOW)
    assert raised.value.code == "file_unreadable"


def test_the_example_survives_nothing_by_halves(tmp_path: Path) -> None:
    """Cut off at any line, the example is applied whole or not at all."""
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines(keepends=True)
    for count in range(3, len(lines), 17):
        text = "".join(lines[:count])
        try:
            apply_text(tmp_path, text, dry_run=True)
        except BadInput:
            refusal(tmp_path, text)


@pytest.mark.scale
def test_every_value_fits_its_column_or_is_refused(tmp_path: Path) -> None:
    """Very long words and numbers in each place: no error comes from the database."""
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    seen = 0
    for number, line in enumerate(lines):
        for found in re.finditer(r"(?<=: )[^\s,{}\[\]]+", line.split("  #")[0]):
            for value in ("x" * 301, "9" * 18 + "." + "9" * 18):
                changed = [*lines[:number], line[: found.start()] + value + line[found.end() :], *lines[number + 1 :]]
                try:
                    apply_text(tmp_path, "\n".join(changed), dry_run=True)
                except BadInput:
                    seen += 1
    assert seen > 200


def test_a_long_wrong_word_is_told_shortly(tmp_path: Path) -> None:
    with pytest.raises(BadInputs) as raised:
        apply_text(tmp_path, f"organization: {{currency: {'x' * 5000}}}\n{'y' * 900}: 1\n")
    assert max(len(error.message) + len(error.where.key or "") for error in raised.value.errors) < 700


def test_nonsense_without_end_is_told_soon(tmp_path: Path) -> None:
    people = "\n".join(
        f"  - {{email: p{number}@example.com, time_zone: Europe/Berln{number}}}" for number in range(3_000)
    )
    found = refusal(tmp_path, f"people:\n{people}\n")
    assert [line for _, line, _ in found] == list(range(2, 102))


def test_teams_stand_on_a_few_levels(tmp_path: Path) -> None:
    chain = "\n".join(f"  - {{name: t{number}, parent: t{number + 1}}}" for number in range(1999))
    assert refusal(tmp_path, f"teams:\n{chain}\n  - {{name: t1999}}\n")[0] == ("too_many_levels", 2, "teams[0].parent")
    apply_text(tmp_path, "teams:\n" + "\n".join(chain.splitlines()[:20]) + "\n  - {name: t20}\n")
