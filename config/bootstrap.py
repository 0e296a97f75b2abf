"""`make setup`: .venv from hash-locked requirements.

Standard library only, and readable by every Python since 2.7, so that an old one can say what it lacks.

    python3 config/bootstrap.py LOCK...     each LOCK is a file of requirements/, like base.txt
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
OLDEST = (3, 11)


def refuse(line):
    # type: (str) -> None
    """End with one clear line."""
    sys.stderr.write(line + "\n")
    sys.exit(1)


def check_python():
    # type: () -> None
    """Say which Python is needed, and which one this is."""
    if sys.version_info < OLDEST:
        have = ".".join(str(part) for part in sys.version_info[:3])
        refuse(
            "Fleetledger needs Python 3.11 or newer; %s is %s. Try: make PYTHON=python3.11 ..." % (sys.executable, have)
        )


def is_whole():
    # type: () -> bool
    """Tell whether .venv has a Python that starts; one whose base was removed or updated away does not."""
    try:
        with open(os.devnull, "w") as nowhere:
            return subprocess.call([PYTHON, "-c", "import pip"], stdout=nowhere, stderr=nowhere) == 0
    except OSError:
        return False


def make_venv():
    # type: () -> None
    """Make .venv, or make it anew when it is broken."""
    if is_whole():
        return
    if not os.access(ROOT, os.W_OK):
        refuse("%s can't be written: .venv belongs there. Run make as the user who owns the checkout." % ROOT)
    if os.path.isdir(VENV) and not os.path.islink(VENV):
        shutil.rmtree(VENV)
    made = subprocess.run(
        [sys.executable, "-m", "venv", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if made.returncode:
        if b"ensurepip" in made.stdout:
            refuse("This Python can't make virtual environments. On Debian and Ubuntu: apt-get install python3-venv")
        last = made.stdout.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        refuse("Could not make .venv: %s" % last[-1])


def fingerprint(path):
    # type: (str) -> str
    """Tell one lock file, installed by one Python, from another."""
    with open(path, "rb") as lock:
        return "%s %s" % (hashlib.sha256(lock.read()).hexdigest(), sys.version.split()[0])


def install(name):
    # type: (str) -> None
    """Install a lock file, unless exactly this one is installed already."""
    path = os.path.join(ROOT, "requirements", name)
    if not os.path.exists(path):
        refuse("There is no requirements/%s." % name)
    mark = os.path.join(VENV, "installed-" + name)
    wanted = fingerprint(path)
    if os.path.exists(mark):
        with open(mark) as kept:
            if kept.read() == wanted:
                return
    sys.stdout.write("Installing requirements/%s into .venv\n" % name)
    sys.stdout.flush()
    command = [PYTHON, "-m", "pip", "install", "--quiet", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--root-user-action=ignore", "--require-hashes", "-r", path]
    if subprocess.call(command, cwd=ROOT):
        refuse("requirements/%s could not be installed; the lines above say why. make setup tries again." % name)
    with open(mark, "w") as kept:
        kept.write(wanted)


def main(names):
    # type: (list[str]) -> None
    """Make .venv and install, one process of a checkout at a time."""
    check_python()
    lock = os.open(ROOT, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    make_venv()
    for name in names:
        install(name)


if __name__ == "__main__":
    main(sys.argv[1:])
