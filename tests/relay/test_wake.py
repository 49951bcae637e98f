"""Wake-ups on a file-system broker and on a real server of the Redis protocol."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kombu.connection import Connection
from redis import Redis

from relay.contract import WAKE_TASK, broker_connection, queue_name
from relay.wake import CeleryWaker
from tests.waiting import until


@pytest.fixture(params=["filesystem", "redis"])
def broker_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Both brokers the relay is run with."""
    if request.param == "filesystem":
        return f"filesystem://{tmp_path / 'deep' / 'broker'}"
    url: str = request.getfixturevalue("valkey_url")
    return url


@pytest.fixture
def waker(broker_url: str) -> Iterator[CeleryWaker]:
    """A producer on the broker."""
    made = CeleryWaker(broker_url)
    yield made
    made.close()


def _take(broker_url: str, device: str) -> tuple[str, object]:
    """The name and the expiry of the next message for a device."""
    found = broker_connection(broker_url)
    broker = Connection(found.url, transport_options=found.transport_options)  # type: ignore[no-untyped-call]  # not annotated
    with broker as connection:
        queue = connection.SimpleQueue(queue_name(device))
        message = queue.get(timeout=30)
        message.ack()
        queue.close()
        return message.headers["task"], message.headers["expires"]


def test_a_wake_up_reaches_the_devices_queue_and_no_other(broker_url: str, waker: CeleryWaker) -> None:
    """It names the task both sides know, and it expires."""
    assert waker.wake("other")
    assert waker.wake("spyre")
    task, expires = _take(broker_url, "spyre")
    assert task == WAKE_TASK
    assert expires
    assert _take(broker_url, "other")[0] == WAKE_TASK


def test_a_device_with_a_queue_of_another_name_is_woken_there(broker_url: str) -> None:
    waker = CeleryWaker(broker_url, {"quartz": "stones"})
    assert waker.wake("quartz")
    assert _take(broker_url, "stones")[0] == WAKE_TASK
    waker.close()


def test_a_deleted_broker_folder_comes_back(tmp_path: Path) -> None:
    """Losing the whole broker loses nothing."""
    folder = tmp_path / "broker"
    waker = CeleryWaker(f"filesystem://{folder}")
    assert waker.wake("spyre")
    shutil.rmtree(folder)
    assert waker.wake("spyre")
    assert _take(f"filesystem://{folder}", "spyre")[0] == WAKE_TASK
    waker.close()


def test_an_unreachable_broker_is_reported_and_not_raised(capsys: pytest.CaptureFixture[str]) -> None:
    """And its password stays out of the log."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    waker = CeleryWaker(f"redis://:pass-of-the-broker@127.0.0.1:{port}/0")
    assert waker.wake("spyre") is False
    waker.close()
    captured = capsys.readouterr()
    log = captured.out + captured.err
    assert "wake_failed" in log
    assert "pass-of-the-broker" not in log


def test_a_broker_that_cannot_be_written_is_reported_and_not_raised(tmp_path: Path) -> None:
    """A file lies where the folder should be."""
    (tmp_path / "broker").write_text("", encoding="utf-8")
    waker = CeleryWaker(f"filesystem://{tmp_path / 'broker'}")
    assert waker.wake("spyre") is False
    waker.close()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Where somebody takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield silent.getsockname()[1]


def test_a_broker_that_says_nothing_holds_nobody_up_for_long(silent_port: int) -> None:
    """Not even when many send at once: who comes after the first who noticed does not wait at all."""
    waker = CeleryWaker(f"redis://127.0.0.1:{silent_port}/0")
    with ThreadPoolExecutor(40) as pool:
        begun = time.monotonic()
        assert not any(pool.map(waker.wake, ["spyre"] * 40))
        assert time.monotonic() - begun < 15
    begun = time.monotonic()
    assert not any(waker.wake("spyre") for _ in range(1000))
    assert time.monotonic() - begun < 15
    waker.close()


def test_a_broker_that_comes_back_is_used_again(valkey_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a restart of this process, and with no more than a pause."""
    import relay.wake

    monkeypatch.setattr(relay.wake, "_PAUSE_S", 0.01)
    waker = CeleryWaker(valkey_url)
    assert waker.wake("back")
    with Redis.from_url(valkey_url) as broker:
        broker.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    until(lambda: waker.wake("back"), "a wake-up is sent again", 30)
    waker.close()
