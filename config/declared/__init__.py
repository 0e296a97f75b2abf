"""Configuration as code: `apply fleet.yaml`. Reader, schema, checks, and the writing of it all or nothing."""
