"""A worker works when it is woken and looks by itself when it is not; never twice at once, and no wish is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from relay.contract import Expected, ShardOutcome, TestOrder
from tests.waiting import until
from tests.workers.leases import a_test_lease
from tests.workers.relay_double import TOKEN, RelayDouble
from tests.workers.small_upstream import Upstream
from workers.waking import Awake, is_redis, patience

SOON_S = 0.02


@pytest.fixture
def looking() -> Iterator[Callable[[Callable[[], int]], Awake]]:
    """Starts them, and stops them at the end."""
    started: list[Awake] = []

    def start(work: Callable[[], int]) -> Awake:
        awake = Awake(work, look_s=SOON_S)
        awake.start()
        started.append(awake)
        return awake

    yield start
    for awake in started:
        awake.stop()


def test_who_is_woken_works_and_says_how_much() -> None:
    assert Awake(lambda: 3).woken() == 3


def test_nobody_has_to_wake_it(looking: Callable[[Callable[[], int]], Awake]) -> None:
    done: list[int] = []

    def work() -> int:
        done.append(1)
        return 1

    looking(work)
    until(lambda: len(done) >= 3, "it looked three times")


def test_a_look_that_fails_is_not_the_last(looking: Callable[[Callable[[], int]], Awake]) -> None:
    looks: list[int] = []

    def work() -> int:
        looks.append(1)
        if len(looks) < 3:
            raise OSError("the disk is odd today")
        return 0

    looking(work)
    until(lambda: len(looks) >= 4, "it looked again")


def test_it_does_one_thing_at_a_time_and_looks_once_more_for_who_came_meanwhile() -> None:
    """However many come: the one who is at it sees what is due after the last of them."""
    begun, go_on = threading.Event(), threading.Event()
    rounds: list[int] = []

    def work() -> int:
        rounds.append(1)
        begun.set()
        assert go_on.wait(20)
        return 1

    awake = Awake(work)
    told: list[int] = []
    first = threading.Thread(target=lambda: told.append(awake.woken()))
    first.start()
    assert begun.wait(20)
    assert [awake.woken() for _ in range(5)] == [0] * 5
    go_on.set()
    first.join(20)
    assert told == [2]
    assert len(rounds) == 2


def test_work_that_raises_leaves_it_free_for_the_next(looking: Callable[[Callable[[], int]], Awake]) -> None:
    failing = [True]

    def work() -> int:
        if failing:
            failing.clear()
            raise OSError("once")
        return 1

    awake = Awake(work)
    with pytest.raises(OSError, match="once"):
        awake.woken()
    assert awake.woken() == 1


def test_its_end_waits_for_what_was_found(looking: Callable[[Callable[[], int]], Awake]) -> None:
    """A shard in hand is given back before the process ends."""
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> int:
        begun.set()
        assert go_on.wait(20)
        ended.set()
        return 1

    awake = looking(work)
    assert begun.wait(20)
    stopping = threading.Thread(target=awake.stop)
    stopping.start()
    go_on.set()
    stopping.join(20)
    assert ended.is_set()


@pytest.mark.parametrize(
    ("url", "redis"), [("redis://queue:6379/0", True), ("rediss://queue/0", True), ("filesystem:///x", False)]
)
def test_no_wait_for_a_broker_is_endless(url: str, redis: bool) -> None:
    """Only Redis is waited for on a socket."""
    assert is_redis(url) is redis
    assert ("socket_timeout" in patience(url)) is redis


_SLOW_FILE = "test/test_slow.py"
_SLOW = "import time\nimport unittest\n\n\nclass TestSlow(unittest.TestCase):" + "".join(
    f"\n    def test_{number}(self):\n        time.sleep(0.5)\n" for number in range(20)
)
#: A worker as it is, but that it looks often.
_PROGRAM = """
from workers import waking
waking.LOOK_S = 0.2
from workers.__main__ import main
raise SystemExit(main())
"""


@pytest.mark.e2e
def test_what_nobody_woke_a_worker_for_is_given_back_at_its_end(
    relay: RelayDouble, upstream: Upstream, tmp_path: Path
) -> None:
    """It was found beside Celery's own work, of which Celery knows nothing when it ends; no broker was needed."""
    base = upstream.commit({_SLOW_FILE: ""})
    change = upstream.change(base, upstream.commit({_SLOW_FILE: _SLOW}))
    orders = [
        TestOrder(id=f"{_SLOW_FILE}::TestSlow::test_{each}", file=_SLOW_FILE, expected=Expected.MANDATORY_SUCCESS)
        for each in range(20)
    ]
    relay.leases.append(a_test_lease(change, tuple(orders)))
    environment = {
        "PATH": os.environ["PATH"],
        "RELAY_URL": relay.url,
        "RELAY_BROKER_URL": f"filesystem://{tmp_path}/broker",
        "RELAY_WORKER_TOKEN": TOKEN,
        "RELAY_DEVICE": "cpu",
        "RELAY_WORK_DIR": str(tmp_path / "work"),
    }
    log = tmp_path / "worker.log"
    with log.open("w") as output:
        worker = subprocess.Popen([sys.executable, "-c", _PROGRAM], env=environment, stdout=output, stderr=output)
    try:
        until(lambda: bool(relay.results) or worker.poll() is not None, "there are results", 120)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0, log.read_text()
    finally:
        worker.kill()
        worker.wait()
    assert 0 < len(relay.results) < 20
    assert [end.outcome for end in relay.finished] == [ShardOutcome.STOPPED], log.read_text()
