"""Writes of the demo: what is started and ended in its story."""
