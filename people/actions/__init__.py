"""Writes of `people`: one verb per function, keyword-only, with `now` and `by`."""
