"""Adapters between telemetry endpoints and `fleet.domain.telemetry`."""
