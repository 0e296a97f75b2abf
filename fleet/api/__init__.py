"""Routes of `fleet`: instances, GPUs, jobs, findings, sources."""
