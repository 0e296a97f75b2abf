"""Reads of `fleet`: `visible` (ids of teams, None for all) is applied here, never in a view."""
