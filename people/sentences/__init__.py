"""What `people` says in whole sentences: refusals and the audit trail."""
