# One image for web, worker, beat and commands. Nothing secret is in it; settings come from the environment and *_FILE.
FROM python:3.11-slim-bookworm AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements/base.txt /tmp/base.txt
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --require-hashes -r /tmp/base.txt

FROM python:3.11-slim-bookworm
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    FLEETLEDGER_DATA_DIR=/var/lib/fleetledger \
    PORT=8000
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin fleetledger \
    && install -d -o fleetledger -g fleetledger -m 700 /var/lib/fleetledger
COPY --from=packages /opt/venv /opt/venv
COPY . /app
WORKDIR /app
USER 10001:10001
RUN python manage.py collectstatic --no-input --verbosity 0
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
# gunicorn listens on 0.0.0.0:$PORT.
CMD ["gunicorn", "--config", "config/gunicorn.py", "config.wsgi"]
