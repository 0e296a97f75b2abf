"""Reads of `fleet`; what a person may see is decided here, never in a view."""
