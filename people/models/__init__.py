"""The tables of `people`: one file per concept."""

from people.models.audit import AuditEvent
from people.models.installation import Installation
from people.models.invitation import Invitation
from people.models.kept import KeptSection
from people.models.organization import Organization
from people.models.past import PastCostCenter, PastMonthLength
from people.models.saved_view import SavedView
from people.models.sign_in import SignInFailure
from people.models.team import Team
from people.models.token import ApiCalls, ApiToken
from people.models.user import RoleGrant, User

__all__ = [
    "ApiCalls", "ApiToken", "AuditEvent", "Installation", "Invitation", "KeptSection", "Organization", "PastCostCenter",
    "PastMonthLength", "RoleGrant", "SavedView", "SignInFailure", "Team", "User",
]  # fmt: skip
