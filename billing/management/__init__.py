"""Commands of `billing`."""
