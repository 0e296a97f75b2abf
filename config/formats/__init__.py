"""How dates are written in each language; Django reads these by the names of its own formats."""
