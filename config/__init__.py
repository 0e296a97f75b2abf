"""The Django project: settings, urls, Celery, the table of periodic jobs, tick and replay, the embedded engine."""
