"""Tables of money, as pages and files show them."""
