"""gunicorn's settings, for `make run` and for containers (`gunicorn -c config/gunicorn.py config.wsgi`)."""

from __future__ import annotations

worker_class = "gthread"
workers = 2
threads = 4
timeout = 60
graceful_timeout = 5
keepalive = 5
max_requests = 20_000  # a leak, if there is one, stays small
max_requests_jitter = 2_000
loglevel = "warning"
accesslog = None
control_socket_disable = True
