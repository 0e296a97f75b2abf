"""A source behind TLS that wants a client certificate: who has it is answered, who has not is told what is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from ssl import TLSVersion

import pytest

from common.errors import BadInput, OutsideFailed
from fleet.sources.prometheus.access import access_of
from fleet.sources.prometheus.client import PrometheusClient
from tests.support.certificates import Authority
from tests.support.scripted_http import ScriptedServer, json_answer

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
VECTOR = {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "1"]}]}}


@pytest.fixture
def servers(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "servers")


@pytest.fixture
def clients(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "clients")


@pytest.fixture(params=[TLSVersion.TLSv1_2, TLSVersion.TLSv1_3])
def version(request: pytest.FixtureRequest) -> TLSVersion:
    found: TLSVersion = request.param
    return found


@pytest.fixture
def guarded(servers: Authority, clients: Authority, version: TLSVersion) -> Iterator[ScriptedServer]:
    with ScriptedServer(servers.wants_clients_of(clients, version)) as server:
        server.default = json_answer(VECTOR)
        yield server


def asked(server: ScriptedServer, **files: Path) -> object:
    """Ask as a source that was declared with these files."""
    mtls = {name: f"file:{path}" for name, path in files.items()}
    client = PrometheusClient(server.url, access_of({"mtls": mtls} if mtls else None), pause=lambda _: None)
    try:
        return client.query("up", 1).data
    finally:
        client.close()


def test_with_its_certificate_a_source_is_read(guarded: ScriptedServer, servers: Authority, clients: Authority) -> None:
    ours = clients.issue("fleetledger")
    assert asked(guarded, cert=ours.cert, key=ours.key, ca=servers.own.cert) == VECTOR["data"]
    assert asked(guarded, cert=ours.both, ca=servers.own.cert) == VECTOR["data"]  # certificate and key in one file
    assert len(guarded.requests) == 2


def refusal(server: ScriptedServer, **files: Path) -> OutsideFailed:
    with pytest.raises(OutsideFailed) as raised:
        asked(server, **files)
    assert server.requests == []
    return raised.value


def assert_told(error: OutsideFailed, server: ScriptedServer, version: TLSVersion, said: str) -> None:
    """With TLS 1.3 the refusal follows the handshake: it is read, or the server has hung up before."""
    sure = ("auth_failed", f"{server.url} {said}.")
    hung_up = (
        "tls_failed",
        f"{server.url} closed the TLS connection; it may want a client certificate, or another one.",
    )
    assert (error.code, error.message) in ({sure} if version is TLSVersion.TLSv1_2 else {sure, hung_up})
    assert error.hint == "Give one that its CA signed: auth: {mtls: {cert: file:/path, key: file:/path}}."


def test_without_one_it_says_that_one_is_wanted(
    guarded: ScriptedServer, servers: Authority, version: TLSVersion
) -> None:
    assert_told(refusal(guarded, ca=servers.own.cert), guarded, version, "wants a client certificate")


def test_one_of_somebody_else_is_not_accepted(guarded: ScriptedServer, servers: Authority, version: TLSVersion) -> None:
    stranger = servers.issue("stranger")
    error = refusal(guarded, cert=stranger.cert, key=stranger.key, ca=servers.own.cert)
    assert_told(error, guarded, version, "does not accept this client certificate")


def test_a_server_that_is_not_trusted_gets_nothing(guarded: ScriptedServer, clients: Authority) -> None:
    ours = clients.issue("fleetledger")
    for files in ({"ca": clients.own.cert}, {}):
        error = refusal(guarded, cert=ours.cert, key=ours.key, **files)
        assert error.code == "tls_failed"
        assert "its certificate is not trusted" in error.message


def test_a_file_that_is_not_there_is_named(guarded: ScriptedServer, servers: Authority, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as raised:
        asked(guarded, cert=tmp_path / "no.pem", key=tmp_path / "no.key", ca=servers.own.cert)
    assert raised.value.code == "secret_missing"
    assert f"auth.mtls.cert: {tmp_path / 'no.pem'} can't be read" in raised.value.message
