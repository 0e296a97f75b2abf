"""The broker without a server: no half message, no message twice, bad ones put aside and counted."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from config import broker
from config.celery import app  # noqa: F401 - makes the transport known by its name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "broker"


@pytest.fixture
def channel(folder: Path) -> Iterator[Any]:
    with connect(folder) as connection:
        yield connection.default_channel


def connect(folder: Path) -> Connection:
    return Connection("fleetledger-files://", transport_options={"folder": str(folder), "polling_interval": 0.01})


def message(text: str) -> dict[str, Any]:
    return {"body": text, "content-type": "application/json", "headers": {}, "properties": {"delivery_tag": text}}


def files(folder: Path, place: str) -> list[str]:
    return sorted(path.name for path in (folder / place).iterdir())


def test_first_in_first_out_and_gone_when_taken(folder: Path, channel: Any) -> None:
    for text in ("a", "b", "c"):
        channel._put("celery", message(text))
    channel._put("other", message("x"))
    assert channel._size("celery") == 3
    assert [channel._get("celery")["body"] for _ in range(3)] == ["a", "b", "c"]
    with pytest.raises(Empty):
        channel._get("celery")
    assert (len(files(folder, "messages")), files(folder, "claimed"), files(folder, "bad")) == (1, [], [])
    assert channel._purge("other") == 1


def test_folders_and_messages_are_for_this_user_only(folder: Path, channel: Any) -> None:
    before = os.umask(0o000)
    channel._put("celery", message("a"))
    os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}
    assert modes == {"broker": 0o700, "messages": 0o700, "claimed": 0o700, "bad": 0o700}
    assert [path.stat().st_mode & 0o777 for path in (folder / "messages").iterdir()] == [0o600]


def test_a_crash_while_writing_leaves_no_half_message(
    folder: Path, channel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: Path, target: Path) -> None:
        raise SystemExit("killed between write and rename")

    monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(SystemExit):
        channel._put("celery", message("half"))
    monkeypatch.undo()
    assert len(files(folder, "messages")) == 1
    assert channel._size("celery") == 0
    with pytest.raises(Empty):
        channel._get("celery")
    (half,) = (folder / "messages").iterdir()
    broker.sweep(folder)
    assert half.exists()  # its writer may still be at work
    os.utime(half, (time.time() - 7200, time.time() - 7200))
    broker.sweep(folder)
    assert files(folder, "messages") == []


@pytest.mark.parametrize(
    "content",
    [
        b'{"body": "cut off',
        b"\xff\xfe",
        b"[]",
        b'"text"',
        b'{"body": ""}',
        json.dumps(message("x") | {"content-type": "application/x-python-serialize"}).encode(),
        json.dumps(message("x") | {"properties": None}).encode(),
    ],
)
def test_a_bad_message_is_put_aside_and_counted(folder: Path, channel: Any, content: bytes) -> None:
    (folder / "messages" / "00000000000000000001-x.celery.json").write_bytes(content)
    channel._put("celery", message("good"))
    assert channel._get("celery")["body"] == "good"
    assert files(folder, "bad") == ["00000000000000000001-x.celery.json"]
    assert broker.bad_messages(folder) == 1
    assert (folder / "bad" / "00000000000000000001-x.celery.json").read_bytes() == content


def test_no_folder_holds_no_bad_messages(tmp_path: Path) -> None:
    assert broker.bad_messages(tmp_path / "none") == 0


def take_all(folder: str, start: Any, taken: Any) -> None:
    with connect(Path(folder)) as connection:
        channel: Any = connection.default_channel
        start.wait()
        for _ in range(500):  # more than there are
            try:
                taken.put(channel._get("celery")["body"])
            except Empty:
                break


def test_two_consumers_never_take_one_message(folder: Path, channel: Any) -> None:
    for number in range(400):
        channel._put("celery", message(str(number)))
    context = multiprocessing.get_context("fork")
    start, taken = context.Event(), context.Queue()
    consumers = [context.Process(target=take_all, args=(str(folder), start, taken)) for _ in range(3)]
    for consumer in consumers:
        consumer.start()
    start.set()
    found = sorted(int(taken.get(timeout=20)) for _ in range(400))
    for consumer in consumers:
        consumer.join(20)
    assert found == list(range(400))
    assert taken.empty()


def test_what_a_killed_worker_had_claimed_comes_back(folder: Path, channel: Any) -> None:
    channel._put("celery", message("a"))
    (name,) = files(folder, "messages")
    assert channel._claim(name) is not None
    assert channel._claim(name) is None
    assert broker.sweep(folder) == 1
    assert channel._get("celery")["body"] == "a"


def test_celery_speaks_through_it(folder: Path) -> None:
    received: list[Any] = []
    with connect(folder) as connection:
        queue = connection.SimpleQueue("celery")
        queue.put({"job": "judge"}, serializer="json")
        received.append(queue.get(timeout=5).payload)
        queue.close()
    assert received == [{"job": "judge"}]
