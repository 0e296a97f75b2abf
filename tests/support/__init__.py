"""What tests share: a throw-away PostgreSQL, Prometheus, Redis, an SMTP sink and a scripted HTTP server."""
