"""Users, teams, roles, the organisation, the installation and its clock, the audit trail."""
