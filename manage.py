#!/usr/bin/env python3
"""The command line of Fleetledger. `docs/reference/commands.md` lists every command."""

import os
import sys


def main() -> None:
    """Run one management command on the configured database, starting the embedded one if need be."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.commandline import run

    sys.exit(run(sys.argv))


if __name__ == "__main__":
    main()
