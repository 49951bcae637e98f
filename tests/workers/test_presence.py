"""A worker says that it is there for as long as it is, and no trouble with that is a trouble of its work."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from relay.contract import WorkerPresent
from tests.waiting import until
from tests.workers.full_disk import disk_to_fill
from tests.workers.relay_double import TOKEN, RelayDouble
from workers.app import bench_of, workspace_of
from workers.presence import Presence, describer
from workers.relay_client import RelayClient
from workers.runner.sandbox import SandboxMode
from workers.settings import WorkerSettings


def describe() -> WorkerPresent:
    return WorkerPresent(worker="w1", device="spyre", process="p1", version="1")


@pytest.fixture
def channel(relay: RelayDouble) -> Iterator[RelayClient]:
    relay.present_every_s = 0.05
    with RelayClient(relay.url, TOKEN) as client:
        yield client


def test_it_says_so_again_and_again_and_goodbye_once(relay: RelayDouble, channel: RelayClient) -> None:
    with Presence(channel, describe) as presence:
        presence.start()
        presence.start()
        until(lambda: len(relay.present) > 2)
    assert [message.leaving for message in relay.present].count(True) == 1
    assert relay.present[-1] == describe().model_copy(update={"leaving": True})


def test_who_never_began_says_no_goodbye(relay: RelayDouble, channel: RelayClient) -> None:
    with Presence(channel, describe):
        pass
    assert relay.present == []


@pytest.mark.parametrize("status", [401, 404, 422, 503])
def test_a_relay_that_does_not_listen_is_told_of_once_and_asked_again(
    relay: RelayDouble, channel: RelayClient, status: int
) -> None:
    """Also one of an older version, which knows no such path."""
    relay.failures["presence"] = deque([status] * 2)
    with capture_logs() as said, Presence(channel, describe, first_interval_s=0.05) as presence:
        presence.start()
        until(lambda: bool(relay.present))
    assert [line["log_level"] for line in said] == ["warning", "info"]


def test_a_full_disk_is_told_of_until_there_is_room(tmp_path: Path) -> None:
    """By the sentence with which the worker leases nothing meanwhile."""
    settings = WorkerSettings(
        url="http://127.0.0.1:9",
        broker_url=SecretStr("memory://"),
        worker_token=SecretStr("t"),
        work_dir=tmp_path / "work",
        sandbox=SandboxMode.OFF,
    )
    describe = describer(settings, bench_of(settings), workspace_of(settings))
    assert describe().trouble == ""
    with disk_to_fill() as disk:
        disk.fill()
        assert describe().trouble.startswith("The worker's work directory takes nothing more: ")
    assert describe().trouble == ""


def test_a_relay_that_begins_after_its_worker_hears_of_it_soon(relay: RelayDouble, channel: RelayClient) -> None:
    """Not only after the pause between two words that were heard."""
    relay.failures["presence"] = deque([503])
    with Presence(channel, describe, first_interval_s=3_600) as presence:
        presence.start()
        until(lambda: bool(relay.present))
    assert relay.present[0].leaving is False
