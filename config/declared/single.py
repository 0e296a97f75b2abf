"""One thing of `fleet.yaml` that comes from a form: typed by the same schema, refused with the same words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from common.errors import BadInputs
from config.declared.convert import Converter
from config.declared.reader import read_text
from config.declared.schema import ListOf
from config.declared.sections import FLEET
from config.declared.values import Reading
from people.queries import organization_zone

FORM = "the form"


def typed(section: str, thing: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give ``thing`` of ``section`` as an apply would read it; blank keys are left out. Raises BadInput."""
    given = {key: value for key, value in thing.items() if value not in ("", None, [], {})}
    is_list = isinstance(FLEET.keys[section].type, ListOf)
    root, doubles = read_text(json.dumps({section: [given] if is_list else given}), FORM)
    converter = Converter(FORM, root, Reading(organization_zone()))
    values = converter.convert(root, FLEET, ())
    errors = [*doubles, *converter.errors]
    if errors:
        raise BadInputs(errors)
    found: Mapping[str, Any] = values[section][0] if is_list else values[section]
    return found
