"""Prometheus and what speaks its API (VictoriaMetrics, Thanos, Mimir, managed services)."""
