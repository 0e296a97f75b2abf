"""Management commands of `fleet`."""
