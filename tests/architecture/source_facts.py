"""Facts that the docs must hold, read from the source: settings, commands, error codes, metric names."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

from config.environment import NAMES
from tests.architecture.tree import APPS, ROOT, files, product_modules

_CODE = re.compile(r"[a-z]+(_[a-z0-9]+)*")
_ENV_READS = {"str", "bool", "int", "float", "list", "url", "db_url", "email_url", "get", "getenv", "is_set"}


def trees(*parts: str) -> list[tuple[Path, ast.Module]]:
    """Parse the product's modules; with ``parts`` only those below one of these folders."""
    paths = [path for path in product_modules() if not parts or set(parts) & set(path.relative_to(ROOT).parts)]
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def settings_read() -> set[str]:
    """Give the names of environment variables that the project reads, or knows."""
    found = set(NAMES)
    for _, tree in trees("config"):
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr=attr, value=ast.Name(id=name)), args=[ast.Constant(value=str(key)), *_]
                ) if name.lower() in {"env", "environ", "environment"} and attr in _ENV_READS:
                    found.add(key)
                case ast.Call(
                    func=ast.Attribute(attr="get", value=ast.Attribute(attr="environ")),
                    args=[ast.Constant(value=str(key)), *_],
                ):
                    found.add(key)
                case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=str(key))):
                    found.add(key)
    return {name for name in found if name.isupper()} - {"PATH", "HOME", "DJANGO_SETTINGS_MODULE"}


def commands() -> set[str]:
    """Give the names of the project's own management commands."""
    return {path.stem for path in files(".py") if path.parent.name == "commands" and path.stem != "__init__"}


def _error_classes() -> set[str]:
    """Give the names of FleetledgerError and all that derive from it, in any app."""
    bases: dict[str, set[str]] = {}
    for _, tree in trees(*APPS):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {base.id for base in node.bases if isinstance(base, ast.Name)}
    found, grown = {"FleetledgerError"}, True
    while grown:
        more = {name for name, of in bases.items() if of & found} - found
        found, grown = found | more, bool(more)
    return found


def error_codes() -> set[str]:
    """Give every literal code that the product can answer with: of errors, refusals, warnings and rows of `doctor`.

    A code is the first argument of an error, or stands right before the sentence that says the same in words.
    """
    classes, found = _error_classes() | {"ChannelError"}, set[str]()
    for _, tree in trees(*APPS):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or _name(node.func) in {"GaugeMetricFamily", "Dialect"}:
                continue
            if _name(node.func) in classes and node.args:
                found |= _texts(node.args[0])
            for before, code in pairwise(node.args):
                if _name(node.func).endswith("Check") and isinstance(getattr(before, "value", None), bool):
                    found |= _texts(code)
            for code, sentence in pairwise(node.args):
                if _is_sentence(sentence):
                    found |= {text for text in _texts(code) if _CODE.fullmatch(text)}
    return found


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_sentence(node: ast.expr) -> bool:
    """Tell whether an expression is text with words and a full stop at its end."""
    last = node.values[-1] if isinstance(node, ast.JoinedStr) and node.values else node
    return isinstance(last, ast.Constant) and isinstance(last.value, str) and last.value.rstrip().endswith(".")


def _texts(node: ast.expr) -> set[str]:
    """Give the literals that an expression may be."""
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.IfExp(body=one, orelse=other):
            return _texts(one) | _texts(other)
        case ast.BoolOp(values=values):
            return {text for value in values for text in _texts(value)}
    return set()


def enum_values(module: ast.Module) -> dict[str, set[str]]:
    """Give {class: values} of the StrEnums in ``module``."""
    found = {}
    for node in module.body:
        if isinstance(node, ast.ClassDef) and any(
            isinstance(base, ast.Name) and base.id == "StrEnum" for base in node.bases
        ):
            values = {
                item.value.value
                for item in node.body
                if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant)
            }
            found[node.name] = {str(value) for value in values}
    return found


def metric_names() -> set[str]:
    """Give the names of our own metrics, which stand in the source as literals."""
    source = (ROOT / "config" / "metrics.py").read_text(encoding="utf-8")
    return set(re.findall(r'"(fleetledger_[a-z_]+)"', source))


def documented(page: str) -> set[str]:
    """Give every word in backticks on a page of ``docs/reference/``, outside fenced blocks, split at spaces."""
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return {word for code in re.findall(r"`([^`]+)`", outside) for word in re.split(r"[\s,|]+", code)}
