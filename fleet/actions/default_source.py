"""The source that PROMETHEUS_URL names: one variable is enough to see a fleet."""

from __future__ import annotations

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
