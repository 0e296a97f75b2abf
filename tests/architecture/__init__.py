"""House rules as tests: imports, sizes, marked strings, no inline script, true docs."""
