"""Invitations: a link that lets one person set a password, once, for a while."""

from __future__ import annotations

from django.db import models


class Invitation(models.Model):
    """An invitation of ``email``. ``role`` is "" for somebody whose roles fleet.yaml gives.

    ``prefix`` is the public part of the link; of its secret part only a digest is kept. A link sent again is another
    one (``links`` counts them), and the one before is good for nothing.
    """

    email = models.EmailField(max_length=254)  # in lower case
    role = models.CharField(max_length=16, blank=True)
    team = models.ForeignKey("people.Team", null=True, on_delete=models.CASCADE, related_name="+")
    prefix = models.CharField(max_length=32, unique=True)
    digest = models.CharField(max_length=64)
    links = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey("people.User", on_delete=models.CASCADE, related_name="+")
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        """One open invitation per address; none lives for ever."""

        constraints = [
            models.UniqueConstraint(
                fields=["email"], condition=models.Q(accepted_at=None, revoked_at=None), name="one_open_invitation"
            ),
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="invitation_ends_after_it_begins"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.email} ({self.role})"
