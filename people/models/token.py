"""Tokens for programs, and how often the API was called in the running minute."""

from __future__ import annotations

from django.db import models


class Scope(models.TextChoices):
    """What a token is good for."""

    READ = "read"


class ApiToken(models.Model):
    """A token that acts for its ``owner``, with the rights this person has when it is used.

    ``prefix`` is its public part, by which people tell tokens apart; of the secret part only a keyed digest is kept.
    ``team`` narrows what it shows to this team and its sub-teams. ``last_used_at`` is exact to the hour.
    """

    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    name = models.CharField(max_length=120)
    scopes = models.JSONField(default=list)
    owner = models.ForeignKey("people.User", on_delete=models.CASCADE, related_name="tokens")
    team = models.ForeignKey("people.Team", null=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=254)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        """None lives for ever."""

        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="api_token_ends_after_it_begins"
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"


class ApiCalls(models.Model):
    """Calls of one caller (a token, or a person in a session) in one minute; the row is used again and again."""

    caller = models.CharField(max_length=40, primary_key=True)
    minute = models.DateTimeField()
    calls = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.caller}: {self.calls}"
