"""Rows of machines and jobs as pages show them."""
