"""A pretend fleet on the same ports as a real one. Nothing imports it: settings name its parts."""
