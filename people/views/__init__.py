"""Pages of people: the door, tokens, people and roles, teams, invitations, the audit trail."""
