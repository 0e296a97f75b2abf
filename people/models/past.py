"""What the organisation and its teams were before: values that ended, so that past months do not move."""

from __future__ import annotations

from django.db import models


class PastMonthLength(models.Model):
    """Hours that a month counted for prices per month, before ``until``; the present one is the organisation's."""

    until = models.DateTimeField(unique=True)
    hours = models.DecimalField(max_digits=8, decimal_places=2)

    def __str__(self) -> str:
        return f"{self.hours} until {self.until}"


class PastCostCenter(models.Model):
    """The cost centre of a team before ``until`` ("" for none); the present one is the team's."""

    team = models.ForeignKey("people.Team", on_delete=models.CASCADE, related_name="past_cost_centers")
    until = models.DateTimeField()
    cost_center = models.CharField(max_length=120, blank=True)

    class Meta:
        """One end at a time."""

        constraints = [models.UniqueConstraint(fields=["team", "until"], name="past_cost_center_once")]

    def __str__(self) -> str:
        return f"{self.cost_center} of {self.team_id} until {self.until}"
