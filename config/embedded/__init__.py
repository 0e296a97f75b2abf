"""The embedded engine: a real PostgreSQL under the data folder, for those who have not set DATABASE_URL.

    hold.py      who uses the server; the last one out stops it
    server.py    start, recognise, stop
    warden.py    the server's parent process: stops it when every user has died without a word
    cluster.py   the files: made whole or not at all, roles, passwords
    binaries.py  the programs in the wheel, and how to run them as root
    roles.py     who may do what in the database
    temporary.py a throw-away server for tests and benchmarks

Nothing here but `roles.py` needs Django: the engine is up before settings are loaded.
"""

from config.embedded.hold import Hold, hold_engine
from config.embedded.temporary import temporary_engine

__all__ = ["Hold", "hold_engine", "temporary_engine"]
