"""Configuration as code: `apply fleet.yaml`. Reader, schema, checks, and the writing of it all or nothing."""

from config.declared.apply import apply_file
from config.declared.result import ApplyResult

__all__ = ["ApplyResult", "apply_file"]
