"""Benchmarks: each prints its figures beside those of a bare copy of the same work, made in the same run."""
