"""Sources that no file declares: the one that PROMETHEUS_URL names, and the one of the demo."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fleet.models import Source

DEFAULT = "default"


def keep_default_source(*, url: str) -> bool:
    """Make the source `default`, or move it to ``url``; tell whether something changed.

    One declared under that name in fleet.yaml is left as it is declared: a file says more than a variable.
    """
    source = Source.objects.filter(name=DEFAULT).first()
    if source is None:
        Source.objects.create(name=DEFAULT, kind="prometheus", spec={"url": url})
        return True
    if source.declared is not None or source.spec.get("url") == url:
        return False
    source.spec = {**source.spec, "url": url}
    source.save(update_fields=["spec"])
    return True


def keep_source(*, name: str, kind: str, spec: Mapping[str, Any], read_from: datetime) -> int:
    """Make a source that is read from ``read_from`` on, unless there is one of that name; give its id."""
    values = {"kind": kind, "spec": dict(spec), "collected_until": read_from}
    return int(Source.objects.get_or_create(name=name, defaults=values)[0].pk)
