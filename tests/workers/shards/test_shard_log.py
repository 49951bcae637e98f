"""A shard's log leaves while the shard runs, each line once, and never at the cost of the shard."""

from __future__ import annotations

import threading
import time
from collections import deque

import pytest

from relay.contract import LOG_LINES_CAP, Lease, LogKind, LogLine, LogTaken, Observation, Tree
from relay.trail.redaction import Redactor
from tests.waiting import until
from tests.workers.leases import a_test_lease
from tests.workers.relay_double import TOKEN, RelayDouble
from workers.relay_client import LeaseLostError, RelayClient, RelayRefusedError, RelayUnavailableError
from workers.runner.types import TestOutcome
from workers.shards import shard_log
from workers.shards.shard_log import LAST_WORDS_SECONDS, ShardLog


class Channel:
    """Takes posts, or does what the test says instead; the last instruction stays."""

    def __init__(self, *errors: Exception | None) -> None:
        self.errors = deque(errors or (None,))
        self.tries = 0
        self.lines: list[str] = []
        self.sizes: list[int] = []
        self.open = threading.Event()
        self.open.set()

    def post_log(self, lease: Lease, first: int, lines: tuple[LogLine, ...]) -> LogTaken:
        self.tries += 1
        self.open.wait(20)
        error = self.errors.popleft() if len(self.errors) > 1 else self.errors[0]
        if error is not None:
            raise error
        assert first == len(self.lines)
        self.sizes.append(len(lines))
        self.lines += [line.text for line in lines]
        return LogTaken(lines=len(self.lines))


def test_lines_arrive_while_the_shard_runs(relay: RelayDouble) -> None:
    with RelayClient(relay.url, TOKEN) as client, ShardLog(client, a_test_lease()) as log:
        log.step("fetching the change")
        until(lambda: relay.log == [(LogKind.STEP, "fetching the change")])
        log.tested(TestOutcome("a", Observation.PASSED, 0.0), Tree.HEAD, 1, expected=True)
        until(lambda: len(relay.log) == 2)


def test_the_last_lines_are_there_at_the_end(relay: RelayDouble) -> None:
    texts = [f"line {number}" for number in range(LOG_LINES_CAP + 7)]
    with RelayClient(relay.url, TOKEN) as client, ShardLog(client, a_test_lease()) as log:
        for text in texts:
            log.step(text)
    assert [text for _, text in relay.log] == texts


def test_a_relay_that_cannot_now_gets_the_same_lines_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_log, "_FIRST_WAIT_S", 0.01)
    channel = Channel(RelayUnavailableError("no"), RelayUnavailableError("no"), None)
    with ShardLog(channel, a_test_lease()) as log:
        log.step("a")
        until(lambda: channel.tries == 3)
        log.step("b")
    assert channel.lines == ["a", "b"]


@pytest.mark.parametrize("error", [RelayRefusedError("404"), LeaseLostError("gone")])
def test_a_relay_that_wants_no_log_is_asked_once(error: Exception) -> None:
    channel = Channel(error)
    with ShardLog(channel, a_test_lease()) as log:
        log.step("a")
        log.flush()
        log.step("b")
    assert channel.tries == 1


def test_a_full_log_is_not_written_on(relay: RelayDouble) -> None:
    relay.log_cap = 1
    with RelayClient(relay.url, TOKEN) as client, ShardLog(client, a_test_lease()) as log:
        log.step("a")
        log.flush()
        log.step("b")
    assert [text for _, text in relay.log] == ["a"]


def test_a_relay_that_hangs_costs_the_shard_next_to_nothing() -> None:
    """Lines are handed over at once, and the end waits for a bounded time."""
    channel = Channel()
    channel.open.clear()
    began = time.monotonic()
    try:
        with ShardLog(channel, a_test_lease()) as log:
            for number in range(1_000):
                log.step(f"line {number}")
            assert time.monotonic() - began < LAST_WORDS_SECONDS
        assert time.monotonic() - began < 5 * LAST_WORDS_SECONDS
    finally:
        channel.open.set()


def test_an_absent_relay_is_not_waited_for() -> None:
    """One more try, and that is it: not the two seconds of a relay that is there."""
    channel = Channel(RelayUnavailableError("no"))
    with ShardLog(channel, a_test_lease()) as log:
        log.step("a")
        until(lambda: channel.tries >= 1)
        began = time.monotonic()
    assert time.monotonic() - began < LAST_WORDS_SECONDS


def test_lines_that_found_no_room_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_log, "WAITING_LINES", 3)
    channel = Channel()
    channel.open.clear()
    with ShardLog(channel, a_test_lease()) as log:
        for number in range(5):
            log.step(f"line {number}")
        channel.open.set()
        until(lambda: len(channel.lines) == 3)
        log.step("line 5")
    assert channel.lines == [
        *("line 0", "line 1", "line 2"),
        *("[2 lines are missing here: the relay did not take them in time]", "line 5"),
    ]


def test_no_secret_leaves_in_the_workers_own_words(relay: RelayDouble) -> None:
    """Of tests that is the runner's: test_discreet_runner.py."""
    secret = "the-secret-of-this-worker"
    with RelayClient(relay.url, TOKEN) as client, ShardLog(client, a_test_lease(), Redactor([secret])) as log:
        log.step(f"fetching {secret}")
        log.failed(f"cannot read {secret}")
    assert len(relay.log) == 2
    assert not any(secret in text for _, text in relay.log)
