"""Run every benchmark, or those that are named: ``python -m benchmarks [NAME...]``.

Each is a module here with a ``main()``; it runs in a process and on a throw-away database of its own, so that memory
and tables are its own. ``DATABASE_URL``, when set, names the server to use instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from config.embedded.temporary import temporary_engine

HERE = Path(__file__).resolve().parent
NOT_BENCHMARKS = {"__init__", "__main__", "api_fleet", "figures", "hosts", "page_fleet"}


def names() -> list[str]:
    """Give the names of all benchmarks."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHMARKS)


def run(name: str) -> int:
    """Run one benchmark; give its exit code."""
    print(f"\n## {name}\n", flush=True)
    with ExitStack() as stack:
        environment = dict(os.environ)
        if "DATABASE_URL" not in environment:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fl-bench-"))
            environment["DATABASE_URL"] = stack.enter_context(temporary_engine(Path(folder)))
        argv = [sys.executable, "-m", f"benchmarks.{name}"]
        return subprocess.run(argv, cwd=HERE.parent, env=environment, check=False).returncode


def main(wanted: list[str]) -> int:
    """Run what is wanted; give 2 for a name that does not exist, 1 when one failed."""
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        print(f"No such benchmark: {', '.join(unknown)}. There are: {', '.join(names())}.", file=sys.stderr)
        return 2
    return int(any([run(name) for name in wanted or names()]))  # noqa: C419 - one that fails does not stop the others


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
