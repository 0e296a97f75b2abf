"""The WSGI application that the web server runs."""

from django.core.wsgi import get_wsgi_application

from config import startup

hold = startup.begin()  # kept as long as the process: the embedded engine, if that is our database
application = get_wsgi_application()
