"""A floor without models: errors, money, periods, COPY, locks, guarded HTTP, the base of our commands."""
