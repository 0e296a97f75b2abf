"""What the environment says: read once, checked whole, without Django. `docs/reference/settings.md` lists it.

Reading never raises: settings must load for linters and type checkers too. What is wrong is kept as problems, which the
start path (`config/commandline.py`, `config/supervisor.py`) and Django's system checks report with a stable id.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

BASE_FOLDER = Path(__file__).resolve().parent.parent
NAMES = (
    "DATABASE_URL",
    "CELERY_BROKER_URL",
    "PROMETHEUS_URL",
    "SECRET_KEY",
    "ALLOWED_HOSTS",
    "EMAIL_URL",
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
    "METRICS_TOKEN",
    "ADMIN_PASSWORD",
    "FLEETLEDGER_DATA_DIR",
    "FLEETLEDGER_URL",
    "FLEETLEDGER_ACT",
    "FLEETLEDGER_SAMPLE_DAYS",
    "FLEETLEDGER_DEMO",
    "FLEETLEDGER_SECRETS",
)
FILE_ONLY = frozenset({"ADMIN_PASSWORD"})  # a password of a person is never written into the environment
DATABASE_SCHEMES = ("postgres", "postgresql", "pgsql")
BROKER_SCHEMES = ("redis", "rediss", "redis+socket")
EMAIL_SCHEMES = ("smtp", "smtp+tls", "smtps", "smtp+ssl")
SHORTEST_SECRET_KEY = 50
SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the environment. ``message`` never holds the value of a secret."""

    id: str
    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.message} {self.hint} [{self.id}]"


@dataclass(frozen=True)
class Environment:
    """The values (NAME_FILE already read) and what is wrong with them. A bad value is left out of ``values``."""

    values: Mapping[str, str]
    problems: tuple[Problem, ...]

    def get(self, name: str, default: str = "") -> str:
        """Give the value of ``name``."""
        return self.values.get(name, default)

    def is_set(self, name: str) -> bool:
        """Tell whether ``name`` has a (good) value."""
        return name in self.values

    @property
    def data_folder(self) -> Path:
        """Where everything that is written lives; a relative path counts from the checkout."""
        return (BASE_FOLDER / self.get("FLEETLEDGER_DATA_DIR", "var")).resolve()

    @property
    def uses_embedded_engine(self) -> bool:
        """Tell whether the database is our own. A bad DATABASE_URL is a problem, never a reason to make a new one."""
        return not self.is_set("DATABASE_URL")


def read(variables: Mapping[str, str] | None = None) -> Environment:
    """Read and check ``variables`` (default: the process's environment)."""
    given = os.environ if variables is None else variables
    problems = [_unknown(name) for name in sorted(given) if name.startswith("FLEETLEDGER_") and not _is_known(name)]
    values: dict[str, str] = {}
    for name in NAMES:
        value, problem = _value(name, given)
        if problem is None and value:
            problem = _CHECKS.get(name, _nothing_wrong)(value)
        if problem is not None:
            problems.append(problem)
        elif value:
            values[name] = value
    return Environment(values, tuple(problems))


def _is_known(name: str) -> bool:
    return name in NAMES or name.removesuffix("_FILE") in NAMES


def _unknown(name: str) -> Problem:
    near = difflib.get_close_matches(
        name, [known for known in NAMES if known.startswith("FLEETLEDGER_")], n=1, cutoff=0.5
    )
    hint = f"Did you mean {near[0]}?" if near else "docs/reference/settings.md lists what there is."
    return Problem("fleetledger.E001", f"{name} is no setting of Fleetledger.", hint)


def _value(name: str, given: Mapping[str, str]) -> tuple[str, Problem | None]:
    """Give the value from NAME or the file that NAME_FILE names; an empty variable counts as not set."""
    plain, path = given.get(name, ""), given.get(f"{name}_FILE", "")
    if plain and name in FILE_ONLY:
        return "", Problem("fleetledger.E002", f"{name} is read from a file only.", f"Set {name}_FILE to its path.")
    if plain and path:
        return "", Problem("fleetledger.E002", f"{name} and {name}_FILE are both set.", "Keep one of them.")
    if not path:
        return plain.strip(), None
    try:
        return Path(path).read_text(encoding="utf-8").strip(), None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        return "", Problem("fleetledger.E003", f"{name}_FILE: {path} can't be read: {reason}.", "Check path and mode.")


def _nothing_wrong(_value: str) -> Problem | None:
    return None


def _url(
    name: str, problem_id: str, schemes: tuple[str, ...], example: str, *, host: bool
) -> Callable[[str], Problem | None]:
    """Give a check that ``name`` is a URL of one of ``schemes``; the value may hold a password and is not told."""

    def check(value: str) -> Problem | None:
        hint = f"Write it like {example}."
        try:
            parts = urlsplit(value)
            port_is_good = parts.port is None or parts.port > 0
        except ValueError:
            return Problem(problem_id, f"{name} is no URL.", hint)
        if parts.scheme not in schemes:
            return Problem(problem_id, f"{name} must begin with {' or '.join(f'{one}://' for one in schemes)}.", hint)
        if (host and not parts.hostname) or not port_is_good:
            return Problem(problem_id, f"{name} names no host.", hint)
        return None

    return check


def _database(value: str) -> Problem | None:
    example = "postgres://user@host:5432/fleetledger"
    found = _url("DATABASE_URL", "fleetledger.E004", DATABASE_SCHEMES, example, host=False)(value)
    if found is None and not urlsplit(value).path.strip("/"):
        return Problem("fleetledger.E004", "DATABASE_URL names no database.", f"Write it like {example}.")
    return found


def _secret_key(value: str) -> Problem | None:
    if len(value) >= SHORTEST_SECRET_KEY and len(set(value)) >= 5:
        return None
    message = f"SECRET_KEY is too easy to guess: it needs {SHORTEST_SECRET_KEY} random characters."
    return Problem(
        "fleetledger.E007",
        message,
        "Leave it out and one is made in the data folder, or make one with openssl rand -base64 48.",
    )


def _own_address(value: str) -> Problem | None:
    example = "https://fleet.example.com"
    found = _url("FLEETLEDGER_URL", "fleetledger.E009", ("http", "https"), example, host=True)(value)
    if found is None and (urlsplit(value).path.strip("/") or urlsplit(value).query or urlsplit(value).username):
        return Problem(
            "fleetledger.E009", "FLEETLEDGER_URL has more than scheme, host and port.", f"Write it like {example}."
        )
    return found


def _act(value: str) -> Problem | None:
    if value in {"on", "off"}:
        return None
    return Problem("fleetledger.E010", f"FLEETLEDGER_ACT is {value!r}.", "Write on, or off: then no act leaves.")


def _demo(value: str) -> Problem | None:
    if value in {"on", "off"}:
        return None
    message = f"FLEETLEDGER_DEMO is {value!r}."
    return Problem("fleetledger.E015", message, "Write off to have no demo, or on to run a command on the demo fleet.")


def _sample_days(value: str) -> Problem | None:
    if value.isdecimal() and 8 <= int(value) <= 3660:
        return None
    message = f"FLEETLEDGER_SAMPLE_DAYS is {value!r}."
    return Problem("fleetledger.E014", message, "Write a number of days from 8 to 3660.")


def _hosts(value: str) -> Problem | None:
    for host in split_list(value):
        if not re.fullmatch(r"\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]", host):
            message = f"ALLOWED_HOSTS: {host!r} is no host name."
            return Problem("fleetledger.E011", message, "Write names without scheme and port, with commas between.")
    return None


def _token(name: str) -> Callable[[str], Problem | None]:
    def check(value: str) -> Problem | None:
        if len(value) >= SHORTEST_TOKEN and not re.search(r"\s", value):
            return None
        message = f"{name} must be at least {SHORTEST_TOKEN} characters without spaces."
        return Problem("fleetledger.E012", message, "Copy it whole; make an own one with openssl rand -hex 24.")

    return check


def _password(value: str) -> Problem | None:
    if len(value) >= 12:
        return None
    return Problem(
        "fleetledger.E013", "The password in ADMIN_PASSWORD_FILE is shorter than 12 characters.", "Make it longer."
    )


def _secret_names(value: str) -> Problem | None:
    """Refuse what is no name of a variable, and names of the server's own secrets."""
    for name in split_list(value):
        if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name) or name in NAMES or name.startswith("FLEETLEDGER_"):
            message = f"FLEETLEDGER_SECRETS: {name[:60]} is no name of a secret that pages may use."
            return Problem(
                "fleetledger.E015", message, "Write names of variables of your own, like PROM_TOKEN,SLACK_URL."
            )
    return None


_CHECKS: Mapping[str, Callable[[str], Problem | None]] = {
    "DATABASE_URL": _database,
    "CELERY_BROKER_URL": _url(
        "CELERY_BROKER_URL", "fleetledger.E005", BROKER_SCHEMES, "redis://host:6379/0", host=False
    ),
    "PROMETHEUS_URL": _url(
        "PROMETHEUS_URL", "fleetledger.E006", ("http", "https"), "http://prometheus.example.com:9090", host=True
    ),
    "SECRET_KEY": _secret_key,
    "ALLOWED_HOSTS": _hosts,
    "EMAIL_URL": _url("EMAIL_URL", "fleetledger.E008", EMAIL_SCHEMES, "smtp+tls://user:password@host:587", host=False),
    "SLACK_BOT_TOKEN": _token("SLACK_BOT_TOKEN"),
    "SLACK_SIGNING_SECRET": _token("SLACK_SIGNING_SECRET"),
    "METRICS_TOKEN": _token("METRICS_TOKEN"),
    "ADMIN_PASSWORD": _password,
    "FLEETLEDGER_URL": _own_address,
    "FLEETLEDGER_SECRETS": _secret_names,
    "FLEETLEDGER_ACT": _act,
    "FLEETLEDGER_SAMPLE_DAYS": _sample_days,
    "FLEETLEDGER_DEMO": _demo,
}


def split_list(value: str) -> list[str]:
    """Split ``a, b`` at its commas."""
    return [part.strip() for part in value.split(",") if part.strip()]
