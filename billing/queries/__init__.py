"""Reads of `billing`: prices, spend, run time, what the overview shows."""
