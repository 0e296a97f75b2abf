"""The menu: what there is to see, for whom. A page that is not there (yet) has no line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_lazy as _

from people.visitor import Visitor


def everybody(visitor: Visitor) -> bool:
    """For everybody who may see anything."""
    return not visitor.sees_nothing


def sees_all(visitor: Visitor) -> bool:
    """For who sees the whole organisation."""
    return visitor.sees_all


def having(right: str) -> Callable[[Visitor], bool]:
    """For who has a right of people/roles.py, for some team at least."""
    return lambda visitor: right in visitor.rights


@dataclass(frozen=True)
class Item:
    """A line of the menu. ``routes``: the names of pages that belong to it, the first is where it leads."""

    routes: tuple[str, ...]
    label: Any
    icon: str
    section: str
    is_for: Callable[[Visitor], bool] = everybody


SECTIONS = {"watch": _("Watch"), "money": _("Money"), "settings": _("Settings")}
ITEMS = (
    Item(("overview",), _("Overview"), "overview", "watch"),
    Item(("fleet_map",), _("Fleet"), "fleet", "watch"),
    Item(("instances", "instance"), _("Instances"), "machine", "watch"),
    Item(("jobs", "job"), _("Jobs"), "jobs", "watch"),
    Item(("idle_list",), _("Idle machines"), "clock", "watch"),
    Item(("incidents",), _("Incidents"), "alert", "watch", sees_all),
    Item(("teams", "team"), _("Teams"), "teams", "money"),
    Item(("unassigned",), _("Unassigned"), "notmine", "money", sees_all),
    Item(("prices",), _("Prices"), "charges", "money", sees_all),
    Item(("start",), _("First steps"), "check", "settings", having("manage_settings")),
    Item(("sources", "source"), _("Sources"), "health", "settings"),
    Item(("settings", "settings_section"), _("Settings"), "settings", "settings", having("manage_settings")),
    Item(("people", "team_settings"), _("People"), "teams", "settings", having("invite")),
    Item(("audit",), _("Audit"), "audit", "settings", having("read_audit")),
    Item(("tokens",), _("Tokens"), "keep", "settings"),
    Item(("api_docs",), _("API"), "link", "settings"),
    Item(("help", "help_page"), _("Help"), "info", "settings"),
)


@dataclass(frozen=True)
class Entry:
    """A line as the menu shows it."""

    label: Any
    icon: str
    href: str
    is_current: bool


@lru_cache(maxsize=128)
def address_of(route: str) -> str:
    """Give the address of a page, "" if there is none."""
    try:
        return reverse(route)
    except NoReverseMatch:
        return ""


def items_for(visitor: Visitor) -> list[Item]:
    """Give the lines that a visitor has."""
    return [item for item in ITEMS if address_of(item.routes[0]) and item.is_for(visitor)]


def menu(visitor: Visitor, route: str) -> list[tuple[Any, list[Entry]]]:
    """Give the sections with their lines; ``route``: the name of the page that is shown."""
    shown: dict[str, list[Entry]] = {}
    for item in items_for(visitor):
        entry = Entry(item.label, item.icon, address_of(item.routes[0]), route in item.routes)
        shown.setdefault(item.section, []).append(entry)
    return [(SECTIONS[name], shown[name]) for name in SECTIONS if name in shown]
