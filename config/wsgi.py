"""The WSGI application that the web server runs."""

import sys

from django.core.wsgi import get_wsgi_application

from common.errors import FleetledgerError
from config import startup

WILL_NOT_START = 4  # gunicorn then gives up instead of trying again for ever

try:
    hold = startup.begin()  # kept as long as the process: the embedded engine, if that is our database
except FleetledgerError as error:
    startup.report(error)
    sys.exit(WILL_NOT_START)
application = get_wsgi_application()
