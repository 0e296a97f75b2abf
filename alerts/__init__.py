"""Say something to somebody: routing, channels, outbox, delivery log."""
