"""The pretend fleet as a source of metrics."""
