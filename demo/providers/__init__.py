"""Adapters: what the accounts of the story say."""
