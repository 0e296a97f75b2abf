"""Commands of `people`."""
