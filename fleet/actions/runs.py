"""Write how a periodic job went: health is a row, never a question to the broker."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import F

from common.errors import FleetledgerError
from fleet.models import JobRun


def start_run(*, name: str, now: datetime, clock: datetime, shard: str = "") -> None:
    """Note that a run began; ``clock`` is the real time, ``now`` the time it works for."""
    JobRun.objects.update_or_create(name=name, shard=shard, defaults={"now": now, "started_at": clock, "seconds": None})


def finish_run(*, name: str, now: datetime, seconds: float, result: dict[str, Any], shard: str = "") -> None:
    """Note that a run went well."""
    JobRun.objects.filter(name=name, shard=shard).update(
        seconds=seconds, ok_at=now, result=result, error_code="", error_message="", failures=0
    )


def fail_run(*, name: str, seconds: float, error: Exception, shard: str = "") -> None:
    """Note that a run failed. What we did not foresee has the code `unexpected` and its type, never its values."""
    known = isinstance(error, FleetledgerError)
    JobRun.objects.filter(name=name, shard=shard).update(
        seconds=seconds,
        error_code=error.code if isinstance(error, FleetledgerError) else "unexpected",
        error_message=str(error) if known else type(error).__name__,
        failures=F("failures") + 1,
    )
