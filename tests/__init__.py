"""The tests. `docs/` and `CONTRIBUTING.md` say which folder holds what."""
