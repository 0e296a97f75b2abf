"""`explain INSTANCE [--at T]`: the decision record of one instance."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from common.clock import BEHIND, real_now
from common.commands import DoorCommand


class Command(DoorCommand):
    """Print why an instance is judged as it is, and what happens next; writes nothing."""

    help = "Explain the verdict on one instance: evidence, policy, what happens next; writes nothing."
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Take the instance."""
        parser.add_argument("instance", help="id or account/id of the instance")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Give the record (doors.md, `explain`)."""
        from billing.queries.prices import Prices
        from fleet.queries.explain import explain
        from fleet.sentences import next_sentence, verdict_sentence
        from people.queries import write_time

        now = write_time(at, clock=real_now() - BEHIND)
        record = explain(options["instance"], now, Prices(), say=verdict_sentence)
        record["next"] = [{**one, "sentence": next_sentence(one["what"], one["at"])} for one in record["next"]]
        return record

    def text(self, answer: Any) -> str:
        """A page of plain text."""
        verdict, policy = answer["verdict"], answer["policy"]
        name = f"{answer['account'] or '-'}/{answer['instance']}"
        lines = [
            f"{name} at {answer['at']}: {verdict['state']} ({verdict['reason']})",
            verdict["sentence"],
            "",
            f"Rule: {policy['name'] or 'no policy'}",
            *(f"  {key}: {one['value']} (from {one['from']})" for key, one in policy["values"].items()),
            "",
            f"Seen from {answer['evidence']['window']['start']} to {answer['evidence']['window']['end']}:",
            *(_seen(gpu) for gpu in answer["evidence"]["gpus"]),
            "",
            *(f"Exempt by {one['by']}: {one['reason']}" for one in answer["exemptions"] if one["holds"]),
            *(f"Finding {one['kind']} since {one['since']}" for one in answer["findings"]),
            *(one["sentence"] for one in answer["next"]),
        ]
        return "\n".join(lines)


def _seen(gpu: Mapping[str, Any]) -> str:
    """One GPU in a line: the samples of the window, oldest first."""
    marks = {"busy": "B", "quiet": ".", "nothing": "?"}
    return f"  {gpu['uuid']}  {''.join(marks[point['says']] for point in gpu['points']) or 'no sample'}"
