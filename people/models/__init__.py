"""The tables of `people`: one file per concept."""

from people.models.audit import AuditEvent
from people.models.installation import Installation
from people.models.kept import KeptSection
from people.models.organization import Organization
from people.models.sign_in import SignInFailure
from people.models.team import Team
from people.models.token import ApiCalls, ApiToken
from people.models.user import RoleGrant, User

__all__ = [
    "ApiCalls",
    "ApiToken",
    "AuditEvent",
    "Installation",
    "KeptSection",
    "Organization",
    "RoleGrant",
    "SignInFailure",
    "Team",
    "User",
]
