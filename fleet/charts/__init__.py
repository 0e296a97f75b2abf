"""Pictures of machines and jobs."""
