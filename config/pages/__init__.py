"""Pages of the product as a whole: help, the design system, search."""
