"""Settings of the Django project. Everything comes from the environment; `docs/reference/settings.md` lists it.

They load with no environment and no database (type checkers import them). What is wrong with the environment stands in
``ENVIRONMENT.problems``; the start path and the system checks report it.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ

from config import environment, schedule
from config.embedded.cluster import APP, DATABASE, DEMO_SUFFIX, password_file
from config.embedded.server import socket_folder
from config.folders import DataFolder
from config.logs import logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = environment.read()
DATA_DIR = ENVIRONMENT.data_folder
FOLDER = DataFolder(DATA_DIR)
DEBUG = False

# --- addresses and secrets -------------------------------------------------------------------------------------------

FLEETLEDGER_URL = ENVIRONMENT.get("FLEETLEDGER_URL", "http://127.0.0.1:8000").rstrip("/")
SAMPLE_DAYS = int(ENVIRONMENT.get("FLEETLEDGER_SAMPLE_DAYS", "100"))  # counted from the newest sample
# This process works on the demo fleet: its own database, its own sources, nothing leaves.
IS_DEMO = ENVIRONMENT.get("FLEETLEDGER_DEMO") == "on"
ACT_IS_ON = ENVIRONMENT.get("FLEETLEDGER_ACT", "on") == "on"
PROMETHEUS_URL = ENVIRONMENT.get("PROMETHEUS_URL")
EMAIL_URL = ENVIRONMENT.get("EMAIL_URL")
SLACK_BOT_TOKEN = ENVIRONMENT.get("SLACK_BOT_TOKEN")
SLACK_SIGNING_SECRET = ENVIRONMENT.get("SLACK_SIGNING_SECRET")
METRICS_TOKEN = ENVIRONMENT.get("METRICS_TOKEN")
PAGE_SECRETS = environment.split_list(ENVIRONMENT.get("FLEETLEDGER_SECRETS"))  # names that pages may pick from


def _secret_key() -> str:
    """Take SECRET_KEY, else the one made at first start; a process that never started anything gets one of its own."""
    kept = FOLDER.secrets / "secret-key"
    if ENVIRONMENT.is_set("SECRET_KEY"):
        return ENVIRONMENT.get("SECRET_KEY")
    return kept.read_text(encoding="utf-8").strip() if kept.exists() else secrets.token_urlsafe(64)


SECRET_KEY = _secret_key()

# --- applications ----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "config.apps.ConfigConfig",
    "demo.apps.DemoConfig",
    "billing.apps.BillingConfig",
    "fleet.apps.FleetConfig",
    "alerts.apps.AlertsConfig",
    "people.apps.PeopleConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
CONTEXT_PROCESSORS = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": CONTEXT_PROCESSORS,
        },
    }
]
AUTH_USER_MODEL = "people.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"

# --- database --------------------------------------------------------------------------------------------------------


def _database() -> dict[str, Any]:
    """Give Django's form of DATABASE_URL, or of the embedded engine (no password here: libpq reads its file)."""
    common = {"ENGINE": "django.db.backends.postgresql", "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    if not ENVIRONMENT.uses_embedded_engine:
        return environ.Env.db_url_config(ENVIRONMENT.get("DATABASE_URL")) | common
    options = {"passfile": str(password_file(FOLDER, APP))}
    return {"NAME": DATABASE, "USER": APP, "HOST": str(socket_folder(FOLDER)), "OPTIONS": options, **common}


DATABASES = {"default": _database()}
if IS_DEMO:
    DATABASES["default"]["NAME"] += DEMO_SUFFIX

# --- jobs ------------------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = ENVIRONMENT.get("CELERY_BROKER_URL", "fleetledger-files://")
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {} if ENVIRONMENT.is_set("CELERY_BROKER_URL") else {"folder": str(FOLDER.broker), "polling_interval": 0.1}
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "demo" if IS_DEMO else "celery"  # on a shared broker neither takes the other's messages
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "config.celery:EverythingDueAtStart"
CELERY_BEAT_SCHEDULE = schedule.beat_schedule()

# --- language, time --------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]  # each in its own words; a catalogue for each but the first
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
FORMAT_MODULE_PATH = "config.formats"
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- static files ----------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = FOLDER.static
STATICFILES_DIRS = [path for path in [BASE_DIR / "static"] if path.exists()]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "config.plotly_file.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static_files.StaticStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# --- REST API: who may call and what is answered stands in people/api/routes.py ------------------------------------

# rest_framework and drf_spectacular are no apps here: we use their code, not their pages and files.
REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema", "URL_FORMAT_OVERRIDE": None}
SPECTACULAR_SETTINGS = {
    "TITLE": "Fleetledger",
    "DESCRIPTION": (
        "What the pages show, for programs: the same nouns and shapes as the commands. Read only. Times are UTC, money"
        " and hours decimal strings, percents 0 to 100; unknown is null. A token shows what its owner may see."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "token": {"type": "http", "scheme": "bearer"},
            "session": {"type": "apiKey", "in": "cookie", "name": "sessionid"},
        }
    },
}

# --- security --------------------------------------------------------------------------------------------------------

_is_https = FLEETLEDGER_URL.startswith("https://")
ALLOWED_HOSTS = environment.split_list(ENVIRONMENT.get("ALLOWED_HOSTS")) or sorted(
    {"127.0.0.1", "localhost", "[::1]", urlsplit(FLEETLEDGER_URL).hostname or "localhost"}
)
CSRF_TRUSTED_ORIGINS = [FLEETLEDGER_URL]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _is_https
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = _is_https
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # probes come over the inner network, without TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _is_https else None
SECURE_HSTS_SECONDS = 31_536_000 if _is_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = _is_https
SECURE_REFERRER_POLICY = "same-origin"
SILENCED_SYSTEM_CHECKS = ["security.W021"]  # preloading is the decision of who owns the whole domain, not of one tool
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        # The hash of the empty string: plotly.js makes an empty <style> and fills it by rules.
        "style-src": ["'self'", "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'"],
    }
}

# --- telemetry: who reads the sources of each kind -------------------------------------------------------------------

METRIC_SOURCES = {"prometheus": "fleet.sources.prometheus.source.open_source"}

# --- inventory: who lists the instances of each kind of account; a kind that is not here is kept and not read ------

INSTANCE_PROVIDERS = {"static": "fleet.providers.static.StaticProvider"}

# --- messages: the adapter of each kind of channel, and who puts the facts of each kind of alert into words ---------

ALERT_CHANNELS = {
    "email": "alerts.channels.email.EmailChannel",
    "slack_webhook": "alerts.channels.slack_webhook.SlackWebhookChannel",
    "webhook": "alerts.channels.webhook.WebhookChannel",
}
ALERT_RENDERERS = dict.fromkeys(
    (
        "gpu_lost",
        "idle",
        "low_utilization",
        "partly_used",
        "suspected_hang",
        "target_down",
        "unassigned",
        "unknown_host",
    ),
    "fleet.sentences.render",
) | {"invitation": "config.mails.invitation", "test": "config.mails.test_message"}

# --- logs ------------------------------------------------------------------------------------------------------------

LOGGING_CONFIG = None  # config/apps.py sets it up once, before anything logs
LOGGING = logging_settings([SECRET_KEY, SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET, METRICS_TOKEN])

# --- the demo fleet: what it adds, and what it must not reach --------------------------------------------------------

PREPARED_BY: dict[str, tuple[str, ...]] = {}  # commands that `prepare` calls
if IS_DEMO:
    PREPARED_BY["demo"] = ("--begin",)
    METRIC_SOURCES = {"demo": "demo.sources.story.open_source"}  # and no other: real data never come in here
    INSTANCE_PROVIDERS = {"static": "demo.providers.story.StoryProvider"}
    PROMETHEUS_URL = ""
    ROOT_URLCONF = "demo.urls"
    MIDDLEWARE.append("demo.middleware.NameFiles")
    CONTEXT_PROCESSORS.append("demo.context_processors.demo")
