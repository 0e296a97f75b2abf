"""The devices and targets of one source during a pull: read once, kept up to date, written set-based."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import orjson
from django.db import connection
from django.db.models import FloatField, Func, QuerySet

from common.database import upsert_rows
from fleet.domain.gpu_models import board, canonical, slice_memory_mib
from fleet.domain.placing import TargetFacts, newest
from fleet.domain.series import Identity, index, model, text
from fleet.domain.telemetry import RawSeries, Reading, UpState
from fleet.domain.timing import Gaps, learn_interval, merge_gaps
from fleet.models import Gpu, Source, Target

WORKING_HOURS = 49  # of gaps: a day of marks, and the day before each


@dataclass
class KnownTarget:
    """A target as far as this pull knows it."""

    id: int
    name: str
    interval: int | None
    gaps: Gaps
    facts: TargetFacts
    up: UpState | None = None
    is_changed: bool = False


@dataclass(frozen=True)
class KnownGpu:
    """A device as it stands in the database; times in epoch seconds."""

    id: int
    index: int | None
    model: str
    vendor: str
    memory_total_mib: int | None
    power_limit_watts: float | None
    source_id: int | None
    target_id: int | None
    first_seen: float
    last_seen: float

    @property
    def facts(self) -> tuple[object, ...]:
        """What a reading may change."""
        limits = (self.memory_total_mib, self.power_limit_watts)
        return (self.index, self.model, self.vendor, *limits, self.source_id, self.target_id)


def moment(seconds: float) -> datetime:
    """Give an aware time."""
    return datetime.fromtimestamp(seconds, UTC)


@dataclass
class Registry:
    """Targets by name and devices by identity."""

    source: Source
    targets: dict[str, KnownTarget] = field(default_factory=dict)
    gpus: dict[Identity, KnownGpu] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source) -> Registry:
        """Read what is known of the source's targets and devices."""
        registry = cls(source)
        for row in Target.objects.filter(source=source):
            gaps = {int(hour): {int(gap): n for gap, n in counts.items()} for hour, counts in row.gaps.items()}
            facts = TargetFacts("", row.hides_owner)
            registry.targets[row.name] = KnownTarget(row.pk, row.name, row.interval_seconds, gaps, facts)
        registry.load_gpus(Gpu.objects.filter(source=source))
        return registry

    def load_gpus(self, rows: QuerySet[Gpu]) -> None:
        """Read devices into the registry."""
        columns = ("index", "model", "vendor", "memory_total_mib", "power_limit_watts", "source_id", "target_id")
        seen = [Func("first_seen_at", output_field=FloatField()), Func("last_seen_at", output_field=FloatField())]
        for time in seen:  # as numbers: a datetime for each would cost more than everything else here
            time.template = "extract(epoch FROM %(expressions)s)::float8"
        for uuid, mig, *known in rows.values_list("uuid", "mig_instance", "pk", *columns, *seen):
            self.gpus[Identity(uuid, mig)] = KnownGpu(*known)

    @property
    def has_facts(self) -> bool:
        """Say whether memory and limit are known of every device that was seen in the last hour of data."""
        newest = max((gpu.last_seen for gpu in self.gpus.values()), default=0.0)
        live = [gpu for gpu in self.gpus.values() if gpu.last_seen > newest - 3600]
        return all(gpu.memory_total_mib and gpu.power_limit_watts for gpu in live)

    def target_key(self, series: RawSeries, identity: Identity) -> str:
        """Give the target's name; a series without job and instance is a target of its own device."""
        return series.target or (f"{identity.uuid}/{identity.mig}" if identity.mig else identity.uuid)

    def ensure_targets(self, names: Iterable[str]) -> None:
        """Make rows of new targets."""
        new = sorted(set(names) - self.targets.keys())
        if not new:
            return
        Target.objects.bulk_create([Target(source=self.source, name=name[:300]) for name in new], ignore_conflicts=True)
        for row in Target.objects.filter(source=self.source, name__in=new):
            self.targets[row.name] = KnownTarget(row.pk, row.name, None, {}, TargetFacts())

    def learn(self, gaps: Mapping[str, Gaps], *, replace: bool) -> None:
        """Add counted gaps to the working histograms of the targets."""
        for name, found in gaps.items():
            target = self.targets[name]
            target.gaps = merge_gaps(target.gaps, found, replace=replace, hours=WORKING_HOURS)
            target.is_changed = True

    def hide_owners(self, names: Iterable[str]) -> None:
        """Remember targets whose pod labels are the exporter's own."""
        for name in names:
            target = self.targets[name]
            if not target.facts.hides_owner:
                target.facts = TargetFacts(target.facts.up_pod, True)
                target.is_changed = True

    def note_up(self, states: Sequence[UpState]) -> None:
        """Keep the newest `up` of known targets, and the pod that the target itself is."""
        for state in states:
            target = self.targets.get(state.target)
            if target is not None:
                target.up = state
                pod = text(state.labels, "pod", "kubernetes_pod_name")
                target.facts = TargetFacts(pod, target.facts.hides_owner)
                target.is_changed = True

    def save_targets(self, *, until: int) -> None:
        """Write intervals, gaps, `up` of the targets that changed; older data never replaces newer."""
        changed = [target for target in self.targets.values() if target.is_changed]
        stored = {row.pk: row for row in Target.objects.filter(pk__in=[target.id for target in changed])}
        rows: list[tuple[object, ...]] = []
        for target in changed:
            row = stored[target.id]
            newest_hour = max(target.gaps, default=None)
            if newest_hour is not None and newest_hour >= max(map(int, row.gaps), default=0):
                row.interval_seconds = learn_interval(target.gaps, newest_hour) or row.interval_seconds
                row.interval_learned_at = moment((newest_hour + 1) * 3600)
                kept = merge_gaps(target.gaps, {})
                row.gaps = {str(hour): {str(gap): n for gap, n in counts.items()} for hour, counts in kept.items()}
            is_newer = row.changed_at is None or row.changed_at.timestamp() <= until
            if target.up is not None and is_newer and row.is_up != target.up.is_up:
                row.is_up, row.changed_at = target.up.is_up, moment(target.up.changed_at)
            gaps = orjson.dumps(row.gaps, option=orjson.OPT_SORT_KEYS).decode()
            learned = (row.interval_seconds, row.interval_learned_at, gaps)
            rows.append((self.source.pk, row.name, *learned, row.is_up, row.changed_at, target.facts.hides_owner))
            target.interval, target.is_changed = row.interval_seconds, False
        columns = ["interval_seconds", "interval_learned_at", "gaps", "is_up", "changed_at", "hides_owner"]
        upsert_rows("fleet_target", ["source_id", "name", *columns], rows, key=["source_id", "name"])

    def ensure_gpus(self, reading: Reading, series: Mapping[int, list[RawSeries]], rows: Sequence[int]) -> None:
        """Make and update the devices of ``rows``: facts where they changed, the last time seen for all."""
        missing = [reading.identities[row] for row in rows if reading.identities[row] not in self.gpus]
        if missing:
            self.load_gpus(Gpu.objects.filter(uuid__in={identity.uuid for identity in missing}))
        written: list[tuple[object, ...]] = []
        seen: list[tuple[int, float]] = []
        for row in rows:
            identity, found = reading.identities[row], series[row]
            first = min(float(one.seen[0]) for one in found if len(one.seen))
            last = max(float(one.seen[-1]) for one in found if len(one.seen))
            old = self.gpus.get(identity)
            facts = self._facts(reading, row, found, old)
            if old is None or facts != old.facts or first < old.first_seen:
                first, last = (first, last) if old is None else (min(first, old.first_seen), max(last, old.last_seen))
                written.append(
                    (identity.uuid, identity.mig, *facts, moment(first).isoformat(), moment(last).isoformat())
                )
            elif last > old.last_seen:
                seen.append((old.id, last))
                self.gpus[identity] = replace(old, last_seen=last)
        self._write(written, seen)
        if written:
            self.load_gpus(Gpu.objects.filter(uuid__in={str(row[0]) for row in written}))

    def _facts(
        self, reading: Reading, row: int, found: Sequence[RawSeries], old: KnownGpu | None
    ) -> tuple[object, ...]:
        identity = reading.identities[row]
        last = newest(found)
        labels = {**last.labels, **reading.info.get(row, {})} if row in reading.info else last.labels
        name = canonical(model(labels))
        is_newer = old is None or not len(last.seen) or float(last.seen[-1]) >= old.last_seen
        if old is not None and (not name or not is_newer):
            name = old.model or name
        catalogue = board(name)
        total: float | None = reading.memory_total_mib.get(row)
        if old is not None and old.memory_total_mib and (total is None or abs(total - old.memory_total_mib) <= 2):
            total = old.memory_total_mib  # used + free + reserved rounds to within one
        if total is None and identity.mig:
            total = slice_memory_mib(labels.get("gpu_i_profile", ""))
        if total is None and catalogue is not None and not identity.mig:
            total = catalogue.memory_total_mib
        limit = reading.power_limit_watts.get(row)
        if limit is None and old is not None:
            limit = old.power_limit_watts
        if limit is None and catalogue is not None:
            limit = float(catalogue.power_limit_watts)
        target = self.targets[self.target_key(last, identity)].id
        number = index(labels)
        if old is not None and not is_newer:
            number, target = old.index, old.target_id or target
        return (
            number,
            name,
            last.dialect.vendor,
            None if total is None else round(total),
            limit,
            self.source.pk,
            target,
        )

    def _write(self, written: Sequence[tuple[object, ...]], seen: Sequence[tuple[int, float]]) -> None:
        if written:
            facts = ["index", "model", "vendor", "memory_total_mib", "power_limit_watts", "source_id", "target_id"]
            columns = ["uuid", "mig_instance", *facts, "first_seen_at", "last_seen_at", "host"]
            update = columns[2:-1]
            rows = [(*row, "") for row in written]
            upsert_rows("fleet_gpu", columns, rows, key=["uuid", "mig_instance"], update=update)
        if seen:
            with connection.cursor() as cursor:
                cursor.execute(
                    "UPDATE fleet_gpu SET last_seen_at = to_timestamp(seen.at) FROM unnest(%s::bigint[], %s::float8[])"
                    " AS seen (id, at) WHERE fleet_gpu.id = seen.id AND last_seen_at < to_timestamp(seen.at)",
                    [[gpu for gpu, _ in seen], [at for _, at in seen]],
                )
