"""People: who signs in and who is told. A provider account is never a person's."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models


class Role(models.TextChoices):
    """What a person may do; the rights of each stand in `people/roles.py`."""

    VIEWER = "viewer"
    ENGINEER = "engineer"
    TEAM_LEAD = "team_lead"
    FINANCE = "finance"
    ADMIN = "admin"


class UserManager(BaseUserManager["User"]):
    """Find by e-mail in any case."""

    def get_by_natural_key(self, username: str | None) -> User:
        """Find the person who signs in as ``username``."""
        return self.get(email__iexact=username)


class User(AbstractBaseUser):
    """A person, known by the e-mail address; without a usable password nobody can sign in as them."""

    email = models.EmailField(unique=True)  # kept in lower case
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    time_zone = models.CharField(max_length=64, blank=True)
    declared = models.JSONField(null=True, blank=True)  # as fleet.yaml has it; None: made in the page

    sign_outs = models.IntegerField(default=0)  # each ends every session of the person

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"

    def __str__(self) -> str:
        return self.email

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Give what a session must hold to be one of this person: another password or sign-out ends it."""
        before = super()._get_session_auth_hash(secret)  # type: ignore[misc]
        return f"{before}.{self.sign_outs}" if self.sign_outs else str(before)


class RoleGrant(models.Model):
    """One role of a person, for one team (and its sub-teams) or, without a team, everywhere."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grants")
    role = models.CharField(max_length=16, choices=Role.choices)
    team = models.ForeignKey("people.Team", null=True, blank=True, on_delete=models.CASCADE, related_name="grants")

    class Meta:
        """A role is granted once."""

        constraints = [
            models.UniqueConstraint(fields=["user", "role", "team"], nulls_distinct=False, name="grant_once")
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.role}"
