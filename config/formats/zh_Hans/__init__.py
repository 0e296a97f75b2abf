"""Simplified Chinese."""
