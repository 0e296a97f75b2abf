"""What the incidents are, in words: what happens, what Fleetledger does about it, what is to be seen and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from demo.domain.scripts import DEARER_PCT, NEW_NAME

Words = str | Promise


@dataclass(frozen=True)
class Told:
    """An incident in words. ``watch``: what is to be seen so many minutes after its start; ``after``: when it is over.

    ``pages``: (address, words) of where to look besides the machines it strikes.
    """

    title: Words
    happens: Words
    answer: Words
    watch: tuple[tuple[int, Words], ...]
    after: Words
    pages: tuple[tuple[str, Words], ...] = ()


IDLE = ("/idle/", _("Idle machines"))
SOURCES = ("/sources/", _("Sources"))
FLEET = ("/fleet/", _("Fleet map"))

WORDS: Mapping[str, Told] = {
    "left": Told(
        _("A job ends and nobody comes back"),
        _("The job on one machine of the data platform team ends. No new one starts; nothing is held in memory."),
        _(
            "An empty GPU is called idle after 30 quiet minutes, not before: every signal must be quiet at its peak,"
            " and the window must be covered. Its owner is told once for the whole episode, with what it has cost."
        ),
        (
            (20, _("The machine waits under “Will be called idle next”, with the time at which it would be.")),
            (37, _("It is idle, with peak, samples and cost. One message to its owner, no second one.")),
        ),
        _("The first busy sample makes it working again; the finding closes with the second one in a row."),
        (IDLE, FLEET),
    ),
    "collector": Told(
        _("The collector goes down"),
        _("The metrics server stops answering, and what the exporters measured meanwhile is lost."),
        _(
            "No data is not idle: after three minutes every machine is unknown, which counts towards nothing. One alert"
            " says that the source fails, and one that it is back. Findings that were open stay open."
        ),
        (
            (5, _("Every machine that runs can’t be seen. One alert about the source, none about machines.")),
            (15, _("Still one alert. The idle queue counts no machine as newly idle.")),
        ),
        _(
            "Machines that work are working again at the first sample; the others stay unknown until their window is"
            " covered. The GPU-hours of the gap stay unknown for good."
        ),
        (SOURCES, IDLE),
    ),
    "files": Told(
        _("A file server hangs"),
        _("Every training machine of one account waits for its files: the GPUs are quiet, their memory is held."),
        _(
            "Held memory gets 60 quiet minutes before it is called idle. This outage is over after 50, so nobody is"
            " told, and the time is metered as working: a wait of the job is not sold as waste."
        ),
        (
            (20, _("The machines still work by their window, and wait under “Will be called idle next”.")),
            (45, _("Nobody was told anything.")),
        ),
        _("The jobs go on, and the waiting list is empty again."),
        (IDLE, FLEET),
    ),
    "hang": Told(
        _("A job hangs"),
        _("A job that worked spins: GPU utilisation says 100 %, but nothing is computed and little power flows."),
        _(
            "Utilisation alone would call it busy. Tensor cores and memory at rest, power low and flat for 30 minutes"
            " after real work make it a suspected hang. It is told, and never stopped for it."
        ),
        (
            (5, _("The machine is working by utilisation, its other signals are at rest.")),
            (37, _("The finding “suspected hang” is there, with the measured power, and one message.")),
        ),
        _("The job works again, and the finding closes."),
        (("/jobs/", _("Jobs")),),
    ),
    "lost": Told(
        _("A GPU falls off"),
        _("One GPU of an inference machine vanishes from the bus; the other seven go on."),
        _(
            "The seven others report, so it is not the exporter that is silent. After 15 minutes this is a lost GPU,"
            " told once. Its time is metered as unknown, never as idle."
        ),
        (
            (5, _("The machine works on seven GPUs.")),
            (20, _("The finding “GPU lost” names its place in the machine.")),
        ),
        _("The GPU reports again, and the finding closes."),
        (FLEET,),
    ),
    "counters": Told(
        _("Profiling counters freeze at 0"),
        _("The exporters of the inference machines read 0 for every profiling counter, while the machines serve."),
        _(
            "One good signal at 0 proves nothing: idle needs every reported signal quiet. GPU utilisation still says"
            " busy, so the machines stay working and nobody is told that they idle."
        ),
        (
            (5, _("The machines are working, though the activity that is shown is 0 %.")),
            (65, _("A whole window of zeros, and still working.")),
        ),
        _("The counters read again."),
        (FLEET, IDLE),
    ),
    "blank": Told(
        _("The exporter writes blanks"),
        _("An exporter answers every question about activity with the blank values that mean “no reading”."),
        _(
            "Blank values are dropped and counted, never averaged: they look like two billion percent. Without any"
            " activity signal nothing can be said, so the machine becomes unknown when its window holds nothing else."
        ),
        (
            (5, _("Dropped values are counted at the source. The last real samples still count.")),
            (65, _("The machine can’t be seen well enough to say, with the reason.")),
        ),
        _("The machine is working at the first sample with a reading."),
        (SOURCES, IDLE),
    ),
    "slow": Told(
        _("Scraping slows down"),
        _("The machines of one account are scraped every three minutes in place of every minute."),
        _(
            "Coverage is part of each verdict. A machine whose newest sample is busy works; one that is quiet is"
            " unknown, since no machine may be called idle while its coverage is under 80 %."
        ),
        (
            (20, _("Coverage falls; what was called idle here goes to unknown, and its finding stays open.")),
            (45, _("No machine of the account is newly called idle.")),
        ),
        _("As the window fills, quiet machines are judged again."),
        (IDLE, SOURCES),
    ),
    "renamed": Told(
        _("A host gets another name"),
        format_lazy(
            _("After a change of the network an exporter calls its host {name}; no account knows that name."),
            name=NEW_NAME,
        ),
        _(
            "The GPUs are known by their identity and go with the new name. The old machine is unknown, not idle; the"
            " new one is a finding, “unknown host”, until somebody says which machine it is."
        ),
        (
            (5, _("The eight GPUs stand under the new name; no account gives it a price.")),
            (10, _("One message about the unknown host. The old machine is billed, and can’t be seen.")),
        ),
        _("The GPUs stand in their machine again, and the finding closes."),
        (FLEET, ("/unassigned/", _("Unassigned"))),
    ),
    "stopped": Told(
        _("A machine is stopped elsewhere"),
        _("Somebody stops a machine in the provider’s console. Its disk of 4 TB stays, and is billed."),
        _(
            "The provider’s word counts: the machine is stopped, not idle, and costs nothing an hour from then on. Its"
            " disk goes on costing and is shown as such."
        ),
        ((5, _("The machine is stopped; its cost goes on with the disk only.")),),
        _("It starts: its idle clock begins anew, and a warm-up of 30 minutes protects it."),
        (FLEET,),
    ),
    "dearer": Told(
        _("A price goes up"),
        format_lazy(_("The provider asks {percent} % more for its machines from now on."), percent=DEARER_PCT),
        _(
            "A price holds from its time on. Hours before it keep theirs, hours after it are priced anew, and no past"
            " total moves."
        ),
        ((5, _("The price list shows both prices with their dates; what idles costs more an hour.")),),
        _("The old price holds again from then on; the time between keeps the higher one."),
        (("/prices/", _("Prices")), IDLE),
    ),
}
REFUSALS: Mapping[str, Words] = {
    "unknown_incident": _("There is no such incident."),
    "history_is_filling": _("The demo’s history is still being filled. Incidents can be started when it is whole."),
    "incident_is_on": _("This incident is going on already. End it first to start it again."),
    "incident_is_over": _("This incident is not going on: it has ended meanwhile."),
    "nothing_works": _("No machine works right now that this could strike. Try again when a job has begun."),
}
