"""The sweep: what it repairs, how often it wakes, and that nothing keeps it from the next step."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise

from sqlalchemy import update

from relay.runs.sweeper import MOST_WAKES, Sweeper, WakeSchedule, runs_without_open_shards
from relay.store.engine import Store
from relay.store.models import Run, Shard, ShardState
from relay.views import RunState
from tests.relay.worker_story import (
    DEVICE,
    NOW,
    TERMS,
    arrive,
    arrive_and_plan,
    get_run,
    later,
    lease,
    must_lease,
    names,
    passes,
    post_results,
)


class CountingWaker:
    """A waker that remembers whom it woke; `up` says whether its broker can be reached."""

    def __init__(self, *, up: bool = True) -> None:
        self.up = up
        self.woken: list[str] = []

    def wake(self, device: str) -> bool:
        self.woken.append(device)
        return self.up

    def close(self) -> None:
        self.up = False


def _nothing() -> None:
    return None


def _sweeper(
    store: Store,
    waker: CountingWaker,
    now: datetime = NOW,
    deliveries: Callable[[], object] = _nothing,
    interval_s: float = 0.01,
) -> Sweeper:
    return Sweeper(store, waker, TERMS, interval_s=interval_s, now=lambda: now, process_deliveries=deliveries)


def test_the_sweep_ends_leases_of_dead_workers(store: Store) -> None:
    """The shard is due again, and its device is woken for it."""
    arrive_and_plan(store, [names(1)])
    killed = must_lease(store)
    waker = CountingWaker()
    _sweeper(store, waker, later(31)).sweep()
    assert must_lease(store, later(31)).shard.id == killed.shard.id
    assert waker.woken == [DEVICE]


def test_the_sweep_finishes_runs_whose_last_report_made_no_difference(store: Store) -> None:
    """A killed worker had reported everything: no further attempt, the run is finished."""
    run_id = arrive_and_plan(store, [names(1)])
    leased = must_lease(store)
    post_results(store, leased, passes(leased))
    _sweeper(store, CountingWaker(), later(31)).sweep()
    assert get_run(store, run_id).state is RunState.FINISHED


def test_the_sweep_moves_on_runs_that_stand_still(store: Store) -> None:
    """A run whose shards have all ended, and that nobody concluded, is concluded."""
    run_id = arrive(store)
    with store.writing() as session:
        session.execute(update(Shard).values(state=ShardState.LOST, error="gone"))
    with store.reading() as session:
        assert runs_without_open_shards(session) == (run_id,)
    _sweeper(store, CountingWaker()).sweep()
    assert get_run(store, run_id).state is RunState.FAILED
    with store.reading() as session:
        assert runs_without_open_shards(session) == ()


def test_a_step_that_fails_does_not_stop_the_others(store: Store) -> None:
    """Deliveries cannot be processed; shards are woken for all the same."""

    def fail() -> None:
        raise RuntimeError("bad delivery")

    arrive(store)
    waker = CountingWaker()
    _sweeper(store, waker, deliveries=fail).sweep()
    assert waker.woken == [DEVICE]


def test_an_unreachable_broker_is_tried_once_a_sweep(store: Store) -> None:
    """Many due shards do not mean many timeouts."""
    arrive_and_plan(store, [[name] for name in names(5)])
    waker = CountingWaker(up=False)
    _sweeper(store, waker).sweep()
    assert waker.woken == [DEVICE]


def test_nothing_due_wakes_nobody(store: Store) -> None:
    """A leased shard is not due."""
    arrive(store)
    assert lease(store) is not None
    waker = CountingWaker()
    _sweeper(store, waker).sweep()
    assert waker.woken == []


def test_the_thread_sweeps_until_it_is_stopped(store: Store) -> None:
    """It starts at once, comes back, and has ended when `stop` returns."""
    thrice = threading.Event()
    passes_seen: list[int] = []

    def count() -> None:
        passes_seen.append(1)
        if len(passes_seen) >= 3:
            thrice.set()

    sweeper = _sweeper(store, CountingWaker(), deliveries=count)
    sweeper.start()
    assert thrice.wait(timeout=30)
    sweeper.stop()
    seen = len(passes_seen)
    assert not [thread for thread in threading.enumerate() if thread.name == "relay-sweeper"]
    assert len(passes_seen) == seen


def test_two_sweeps_at_once_give_a_shard_back_once(store: Store) -> None:
    """Replicas sweep side by side; an attempt is counted once."""
    arrive_and_plan(store, [names(1)])
    must_lease(store)
    sweepers = [_sweeper(store, CountingWaker(), later(31)) for _ in range(4)]
    threads = [threading.Thread(target=sweeper.sweep) for sweeper in sweepers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert must_lease(store, later(31)).shard.attempt == 2


def test_wakes_become_rare_while_nobody_answers() -> None:
    """The pause doubles up to a minute, and a change brings the pace back."""
    schedule = WakeSchedule(2)
    moments = [second for second in range(300) if schedule.wakes({DEVICE: 3}, NOW + timedelta(seconds=second))]
    assert moments[:5] == [0, 2, 6, 14, 30]
    pauses = [after - before for before, after in pairwise(moments[4:])]
    assert set(pauses) <= {32, 60}
    assert schedule.wakes({DEVICE: 2}, NOW + timedelta(seconds=300)) == {DEVICE: 2}
    assert schedule.wakes({}, NOW + timedelta(seconds=301)) == {}
    assert schedule.wakes({DEVICE: 500}, NOW + timedelta(seconds=302)) == {DEVICE: MOST_WAKES}


def test_cancelled_runs_are_left_alone(store: Store) -> None:
    """A final state is final for the sweep too."""
    run_id = arrive(store)
    with store.writing() as session:
        session.execute(update(Run).values(state=RunState.CANCELLED))
        session.execute(update(Shard).values(state=ShardState.LOST))
    _sweeper(store, CountingWaker(), later(1_000)).sweep()
    assert get_run(store, run_id).state is RunState.CANCELLED


class _Turns:
    """Whose turn it is, as told; what was asked of it."""

    def __init__(self, *, ours: bool) -> None:
        self.ours = ours
        self.heard: list[str] = []

    def hold(self) -> bool:
        self.heard.append("hold")
        return self.ours

    def done(self) -> None:
        self.heard.append("done")

    def release(self) -> None:
        self.heard.append("release")


def test_another_process_sweeps_while_it_is_its_turn(store: Store) -> None:
    """Nothing is swept here then; at the end the turn is given back either way."""
    swept: list[bool] = []
    for ours in (False, True):
        turns = _Turns(ours=ours)
        note = partial(swept.append, ours)
        sweeper = Sweeper(
            *(store, CountingWaker(), TERMS), interval_s=60.0, now=lambda: NOW, process_deliveries=note, turn=turns
        )
        sweeper.sweep()
        sweeper.stop()
        assert turns.heard == ["hold", *(["done"] if ours else []), "release"]
    assert swept == [True]
