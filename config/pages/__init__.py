"""Pages that look at all of it: sources and data health, the first run, settings."""
