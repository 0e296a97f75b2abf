"""Ownership: ordered rules with start dates, and claims of persons for what no rule names."""

from __future__ import annotations

from django.db import models


class OwnershipRule(models.Model):
    """One rule of one rule set. The set in force at a time is that with the newest ``valid_from`` at or before it.

    ``spec``: {team, match} or {team_from, strip_prefix}; {} assigns nothing. ``declared_set`` (of the first rule of a
    set): all rules as the file has them, also those that take part at another time.
    """

    valid_from = models.DateTimeField()
    position = models.IntegerField()
    spec = models.JSONField()
    declared_set = models.JSONField(null=True, blank=True)

    class Meta:
        """Ordered within its set."""

        constraints = [models.UniqueConstraint(fields=["valid_from", "position"], name="ownership_rule_once")]
        ordering = ["valid_from", "position"]

    def __str__(self) -> str:
        return str(self.spec)


class Claim(models.Model):
    """A person's word whose an instance or a job is in [valid_from, valid_to), where no rule says so.

    Rules come first, then the claim of the job, then that of the instance it runs on (docs/adr/0009). One is open per
    thing; one that was undone is gone, and stands in the audit trail only.
    """

    instance = models.ForeignKey("fleet.Instance", null=True, on_delete=models.CASCADE, related_name="claims")
    job = models.ForeignKey("fleet.Job", null=True, on_delete=models.CASCADE, related_name="claims")
    team = models.ForeignKey("people.Team", on_delete=models.PROTECT, related_name="+")
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=254)

    class Meta:
        """About one thing; one open at a time."""

        constraints = [
            models.CheckConstraint(condition=models.Q(instance=None) ^ models.Q(job=None), name="claim_of_one_thing"),
            models.UniqueConstraint(
                fields=["instance"], condition=models.Q(valid_to=None), name="one_open_claim_of_instance"
            ),
            models.UniqueConstraint(fields=["job"], condition=models.Q(valid_to=None), name="one_open_claim_of_job"),
        ]

    def __str__(self) -> str:
        return f"{self.instance_id or self.job_id} for {self.team_id} from {self.valid_from}"
