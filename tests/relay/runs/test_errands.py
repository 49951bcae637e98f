"""Errands: whoever waits for somebody outside keeps up neither the sweep, nor another errand, nor the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

from sqlalchemy import select

from relay.runs.errands import Errand, Errands
from relay.runs.sweeper import Sweeper
from relay.store.duties import DutyLease
from relay.store.duty_models import Duty
from relay.store.engine import Store
from tests.relay.outbox.posts import Clock
from tests.relay.runs.test_sweeper import CountingWaker
from tests.relay.worker_story import TERMS, arrive_and_plan, later, lease, must_lease, names
from tests.waiting import until

_NUMBERS = count(1)
#: The duty, while nobody keeps it.
_LASTS_S = 10.0


class Hanging:
    """An errand that waits for an answer until it is let go; `deaf`, it does not ask whether to stop."""

    def __init__(self, *, deaf: bool = False) -> None:
        self.begun = threading.Semaphore(0)
        self.answer = threading.Event()
        self.now, self.most, self.times = 0, 0, 0
        self._deaf = deaf
        self._lock = threading.Lock()

    def __call__(self, stopping: Callable[[], bool]) -> None:
        with self._lock:
            self.now, self.times = self.now + 1, self.times + 1
            self.most = max(self.most, self.now)
        self.begun.release()
        while not self.answer.wait(0.01):
            if stopping() and not self._deaf:
                break
        with self._lock:
            self.now -= 1


@dataclass
class Turn:
    """Whose turn it is, as told."""

    says: Callable[[], bool] = lambda: True

    def hold(self) -> bool:
        return self.says()

    def done(self) -> None:
        """Nobody asks."""

    def release(self) -> None:
        """Nobody waits."""


def _errands(store: Store, *errands: Errand, clock: Clock | None = None, patience_s: float = 20.0) -> Errands:
    """Those of one process."""
    now = clock or Clock()
    turn = DutyLease(store, "errands", lasts_s=_LASTS_S, now=now, holder=f"process {next(_NUMBERS)}")
    return Errands(errands, turn=turn, look_s=0.02, now=now, patience_s=patience_s)


def _kept_until(store: Store) -> datetime:
    with store.reading() as session:
        return session.scalars(select(Duty.until)).one()


@contextmanager
def _running(*all_errands: Errands) -> Iterator[None]:
    for errands in all_errands:
        errands.start()
    try:
        yield
    finally:
        for errands in all_errands:
            errands.stop()


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("relay-errand")]


def test_leases_end_while_an_errand_hangs(store: Store) -> None:
    """The sweep goes on sweeping: the shard of a dead worker is due again before anybody answers."""
    arrive_and_plan(store, [names(1)])
    must_lease(store)
    github = Hanging()
    sweeper = Sweeper(
        *(store, CountingWaker(), TERMS), interval_s=0.02, now=lambda: later(31), process_deliveries=lambda: None
    )
    with _running(_errands(store, Errand("jobs", github))):
        assert github.begun.acquire(timeout=20)
        sweeper.start()
        until(lambda: lease(store, later(31)) is not None)
        sweeper.stop()
        assert github.now == 1


def test_two_processes_do_not_run_the_same_errand_at_once(store: Store) -> None:
    """However long it takes, for several times as long as the duty lasts by itself: who runs it keeps it."""
    github, clock = Hanging(), Clock()
    asker = DutyLease(store, "errands", lasts_s=_LASTS_S, now=clock, holder="who asks often")
    with _running(_errands(store, Errand("jobs", github), clock=clock)):
        assert github.begun.acquire(timeout=20)
        with _running(_errands(store, Errand("jobs", github), clock=clock)):
            for _ in range(6):
                clock.tick(0.6 * _LASTS_S)
                until(lambda: _kept_until(store) == clock() + timedelta(seconds=_LASTS_S))
                assert not asker.hold()
            assert (github.most, github.times) == (1, 1)


def test_who_ends_leaves_the_errands_to_the_next_at_once(store: Store) -> None:
    """And has none out any more."""
    one, other = Hanging(), Hanging()
    first = _errands(store, Errand("jobs", one))
    first.start()
    assert one.begun.acquire(timeout=20)
    with _running(_errands(store, Errand("jobs", other))):
        first.stop()
        assert one.now == 0
        assert other.begun.acquire(timeout=20)
    assert _threads() == []


def test_who_lost_the_duty_stops_its_errand() -> None:
    """A process that was stopped for longer than its duty lasts finds another at it."""
    turn, github = Turn(), Hanging()
    with _running(Errands([Errand("jobs", github)], turn=turn, look_s=0.02, now=Clock())):
        assert github.begun.acquire(timeout=20)
        turn.says = lambda: False
        until(lambda: github.now == 0)


def test_an_errand_keeps_no_other_waiting(store: Store) -> None:
    """Neither one that hangs nor one that fails; and each has its next turn."""
    hanging, done = Hanging(), threading.Semaphore(0)

    def fail(_: Callable[[], bool]) -> None:
        done.release()
        raise RuntimeError("a bug")

    others = [Errand("fails", fail), Errand("works", lambda _: done.release()), Errand("works too", lambda _: None)]
    with _running(_errands(store, Errand("hangs", hanging), *others)):
        for _ in range(8):
            assert done.acquire(timeout=20)
    assert hanging.times == 1


def test_an_errand_waits_for_its_time(store: Store) -> None:
    """One that is due every hour is run once."""
    often, seldom = threading.Semaphore(0), Hanging()
    seldom.answer.set()
    with _running(_errands(store, Errand("seldom", seldom, every_s=3_600), Errand("often", lambda _: often.release()))):
        for _ in range(4):
            assert often.acquire(timeout=20)
    assert seldom.times == 1


def test_the_end_is_not_kept_by_one_that_hangs(store: Store) -> None:
    """It is left behind, and its duty too: nobody else is to run it while it may go on."""
    github = Hanging(deaf=True)
    errands = _errands(store, Errand("jobs", github), patience_s=0.1)
    errands.start()
    assert github.begun.acquire(timeout=20)
    errands.stop()
    assert _threads() == ["relay-errand jobs"]
    github.answer.set()
    until(lambda: _threads() == [])


def test_a_record_that_is_away_ends_nothing() -> None:
    """The duty is asked for again."""
    answers = iter(1 / 0 for _ in range(1))

    def away() -> bool:
        return bool(next(answers, True))

    done = threading.Event()
    with _running(Errands([Errand("jobs", lambda _: done.set())], turn=Turn(away), look_s=0.01, now=Clock())):
        assert done.wait(20)


def test_without_errands_there_is_no_thread(store: Store) -> None:
    """And nothing to end."""
    with _running(_errands(store)):
        assert _threads() == []
