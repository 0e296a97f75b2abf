"""Reads of `billing`: `visible` (ids of teams, None for all) is applied here, never in a view."""
