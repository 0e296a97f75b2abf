"""Reads of `billing`: what a person may see (ids of teams, None for all) is applied here, never in a view."""
