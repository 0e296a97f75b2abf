"""`alerts` and `deliveries`."""
