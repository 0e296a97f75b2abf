"""Pages of the product as a whole: help, the design system, search; sources, the first run, settings."""
