"""Commands of `alerts`."""
