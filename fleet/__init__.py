"""GPUs, samples, jobs, verdicts, findings, policies. Counts GPU-hours, never money."""
