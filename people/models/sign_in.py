"""Failed sign-ins, so that guessing gets slower and slower."""

from __future__ import annotations

from django.db import models


class SignInFailure(models.Model):
    """Failures in a row of one key: an address, or an e-mail address (both as digests: nothing to leak)."""

    key = models.CharField(max_length=72, primary_key=True)
    failures = models.IntegerField(default=0)
    last_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.key}: {self.failures}"
