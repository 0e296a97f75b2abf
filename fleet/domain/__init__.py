"""Pure values and decisions about GPUs: no Django, no clock, no I/O. One rule, one place."""
