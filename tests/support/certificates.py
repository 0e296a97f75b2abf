"""Authorities and certificates for loopback, made by openssl in a folder of the test."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

_EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, as PEM files."""

    cert: Path
    key: Path

    @property
    def both(self) -> Path:
        """Give one file with both in it."""
        path = self.cert.with_suffix(".both.pem")
        path.write_bytes(self.cert.read_bytes() + self.key.read_bytes())
        return path


class Authority:
    """Signs certificates; ``own`` is its own one."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self.own = self._paths("ca")
        subject = ("-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE")
        _openssl("req", "-x509", *_EC, *subject, *_out(self.own))

    def issue(self, name: str) -> Certificate:
        """Give a certificate for 127.0.0.1, good for either side of a connection."""
        made = self._paths(name)
        signed_by = ("-CA", str(self.own.cert), "-CAkey", str(self.own.key))
        extra = ("subjectAltName=IP:127.0.0.1", "basicConstraints=CA:FALSE")
        added = (part for one in extra for part in ("-addext", one))
        _openssl("req", "-x509", *_EC, "-subj", f"/CN={name}", *added, *signed_by, *_out(made))
        return made

    def serves(self) -> ssl.SSLContext:
        """Give what a server needs that shows a certificate of ours."""
        shown = self.issue("server")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(shown.cert, shown.key)
        return context

    def wants_clients_of(self, clients: Authority, version: ssl.TLSVersion) -> ssl.SSLContext:
        """Give what a server needs that shows a certificate of ours and wants one that ``clients`` signed."""
        context = self.serves()
        context.minimum_version = context.maximum_version = version
        context.load_verify_locations(clients.own.cert)
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _paths(self, name: str) -> Certificate:
        return Certificate(self._folder / f"{self._name}-{name}.pem", self._folder / f"{self._name}-{name}.key")


def _out(made: Certificate) -> tuple[str, ...]:
    return ("-out", str(made.cert), "-keyout", str(made.key))


def _openssl(*arguments: str) -> None:
    subprocess.run(("openssl", *arguments), check=True, capture_output=True, timeout=30)
