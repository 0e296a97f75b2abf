"""Whom an incident strikes when it is started."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from demo.domain.incidents import INCIDENTS, Incident
from demo.domain.machines import MACHINES
from demo.domain.scripts import Script
from demo.domain.story import NO_JOB, Phase, play
from fleet.domain.samples import STEP_SECONDS

WORKED_FOR_SECONDS = 1800
BY_HOST = {machine.host: machine for machine in MACHINES}


def pick(script: Script, now: datetime, start: datetime, incidents: Sequence[Incident]) -> tuple[str, ...]:
    """Give the hosts: all of the script's, or the first that has worked for half an hour on one job; none: ().

    ``incidents``: what was started before, besides what the story itself holds.
    """
    if not script.picks:
        return script.hosts
    return next(((host,) for host in script.hosts if _works(host, now, start, incidents)), ())


def _works(host: str, now: datetime, start: datetime, incidents: Sequence[Incident]) -> bool:
    last = int(now.timestamp()) // STEP_SECONDS * STEP_SECONDS
    marks = np.arange(last - WORKED_FOR_SECONDS, last + 1, STEP_SECONDS, dtype=np.int64)
    played = play(BY_HOST[host], marks, int(start.timestamp()), (*INCIDENTS, *incidents))
    used = played.phase[: BY_HOST[host].work.gpus]
    return bool((used == Phase.WORK).all()) and played.job[0] != NO_JOB and bool((played.job == played.job[0]).all())
