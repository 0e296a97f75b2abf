"""Routes of `alerts`: alerts and deliveries."""
