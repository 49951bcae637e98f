"""Leasing: no shard twice, lost workers, heartbeats, cancellation."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from relay.contract import Heartbeat, ShardKind, ShardOutcome
from relay.errors import LeaseLostError, NotFoundError
from relay.runs.creation import cancel_run
from relay.runs.endings import MOST_RETURNS
from relay.runs.leases import LeasedShard, due_shards, expire_leases, heartbeat, lease_next, runs_with_overdue_leases
from relay.store.engine import Store
from relay.store.models import Shard, ShardState
from relay.views import Conclusion, RunState, Verdict
from tests.relay.worker_story import (
    DEVICE,
    NOW,
    TERMS,
    arrive,
    arrive_and_plan,
    end,
    get_run,
    later,
    lease,
    lease_id,
    must_lease,
    names,
    new_run,
    passes,
    post_results,
    post_selection,
    report,
    verdicts,
)


def _beat(store: Store, leased: LeasedShard, seconds: float, progress: str = "") -> bool:
    beat = Heartbeat(lease_id=lease_id(leased), progress=progress)
    with store.writing() as session:
        return heartbeat(session, leased.shard.id, beat, later(seconds), TERMS)


def _expire(store: Store, run_id: int, seconds: float) -> int:
    with store.writing() as session:
        return expire_leases(session, run_id, later(seconds), TERMS)


def _shard(store: Store, shard_id: int) -> Shard:
    with store.reading() as session:
        return session.get_one(Shard, shard_id)


def test_the_first_shard_of_a_run_selects(store: Store) -> None:
    """A fresh run has one due shard, and leasing it starts the selection."""
    run_id = arrive(store)
    leased = must_lease(store)
    assert (leased.run.id, leased.shard.kind, leased.shard.attempt) == (run_id, ShardKind.SELECT, 1)
    run = get_run(store, run_id)
    assert (run.state, run.started_at) == (RunState.SELECTING, NOW)


def test_nothing_due_is_nothing_leased(store: Store) -> None:
    """A shard in work is not due, and other devices' shards are not ours."""
    arrive(store, new_run(device="other"))
    assert lease(store) is None
    arrive(store)
    must_lease(store)
    assert lease(store) is None


def test_shards_are_leased_oldest_first_with_their_tests(store: Store) -> None:
    """Each lease names exactly the tests of its shard."""
    a, b, c = names(3)
    run_id = arrive_and_plan(store, [[a, b], [c]])
    first, second = must_lease(store), must_lease(store)
    assert [test.test_id for test in first.tests] == [a, b]
    assert [test.test_id for test in second.tests] == [c]
    assert get_run(store, run_id).state is RunState.RUNNING


def test_many_workers_at_once_never_get_the_same_shard(store: Store) -> None:
    """Twelve workers ask at the same moment for eight shards of two runs: eight get one each."""
    shards = [[name] for name in names(4)]
    runs = [arrive(store, new_run(pr_number=number)) for number in (1, 2)]
    selecting = [must_lease(store) for _ in runs]
    for leased in selecting:
        post_selection(store, leased, report(shards))
    barrier = threading.Barrier(12)

    def ask(number: int) -> int | None:
        barrier.wait(timeout=30)
        with store.writing() as session:
            leased = lease_next(session, DEVICE, f"w{number}", NOW, TERMS)
            return leased.shard.id if leased else None

    with ThreadPoolExecutor(12) as pool:
        got = [shard for shard in pool.map(ask, range(12)) if shard is not None]
    assert len(got) == len(set(got)) == 8
    with store.reading() as session:
        assert due_shards(session) == {}


def test_a_killed_worker_loses_its_lease_and_another_goes_on(store: Store) -> None:
    """No goodbye is needed: the lease ends by itself, and only tests without a verdict are given out again."""
    a, b = names(2)
    run_id = arrive_and_plan(store, [[a, b]])
    killed = must_lease(store)
    post_results(store, killed, passes(LeasedShard(killed.run, killed.shard, killed.tests[:1])))
    assert _expire(store, run_id, 29) == 0
    assert _expire(store, run_id, 31) == 1
    again = must_lease(store, later(32), "w2")
    assert (again.shard.id, again.shard.attempt) == (killed.shard.id, 2)
    assert [test.test_id for test in again.tests] == [b]
    with pytest.raises(LeaseLostError):
        post_results(store, killed, passes(killed, sequence=2))


def test_a_worker_killed_after_its_last_report_is_not_repeated(store: Store) -> None:
    """All tests are reported, only the goodbye is missing: the run ends without another attempt."""
    run_id = arrive_and_plan(store, [names(2)])
    leased = must_lease(store)
    post_results(store, leased, passes(leased))
    _expire(store, run_id, 31)
    run = get_run(store, run_id)
    assert (run.state, run.conclusion) == (RunState.FINISHED, Conclusion.SUCCESS)


def test_a_heartbeat_keeps_the_lease(store: Store) -> None:
    """And tells the page how far the worker is; an empty word does not wipe the last one."""
    run_id = arrive_and_plan(store, [names(1)])
    leased = must_lease(store)
    assert _beat(store, leased, 20, "collecting") is False
    assert _expire(store, run_id, 45) == 0
    _beat(store, leased, 46)
    assert _shard(store, leased.shard.id).progress == "collecting"
    with store.reading() as session:
        assert runs_with_overdue_leases(session, later(60)) == ()
        assert runs_with_overdue_leases(session, later(77)) == (run_id,)


def test_a_heartbeat_of_a_lost_lease_is_refused(store: Store) -> None:
    """The worker learns that somebody else may have the shard."""
    run_id = arrive_and_plan(store, [names(1)])
    leased = must_lease(store)
    _expire(store, run_id, 31)
    with pytest.raises(LeaseLostError):
        _beat(store, leased, 32)
    must_lease(store, later(32), "w2")
    with pytest.raises(LeaseLostError):
        _beat(store, leased, 33)


def test_a_heartbeat_for_no_shard_is_not_found(store: Store) -> None:
    """Whatever the number."""
    for number in (0, 99, 10**20):
        with store.writing() as session, pytest.raises(NotFoundError):
            heartbeat(session, number, Heartbeat(lease_id="x"), NOW, TERMS)


def test_a_shard_lost_three_times_is_ours_and_not_the_changes(store: Store) -> None:
    """Its tests end as infra, the run as neutral."""
    a, b = names(2)
    run_id = arrive_and_plan(store, [[a], [b]])
    good = must_lease(store)
    post_results(store, good, passes(good))
    end(store, good)
    for number in range(3):
        assert must_lease(store, later(100 * number)).shard.attempt == number + 1
        _expire(store, run_id, 100 * number + 31)
    assert lease(store, later(400)) is None
    assert verdicts(store, run_id) == {a: Verdict.OK, b: Verdict.INFRA}
    run = get_run(store, run_id)
    assert (run.state, run.conclusion) == (RunState.FINISHED, Conclusion.NEUTRAL)


def test_a_lease_that_is_given_back_does_not_count(store: Store) -> None:
    """However many machines go: the attempts are for faults. A shard that failed before has its others left."""
    run_id = arrive_and_plan(store, [names(1)])
    end(store, must_lease(store), ShardOutcome.FAILED, error="disk full")
    for _ in range(5):
        end(store, must_lease(store), ShardOutcome.STOPPED, error="The worker was stopped.")
    for _ in range(2):
        assert get_run(store, run_id).state is RunState.RUNNING
        end(store, must_lease(store), ShardOutcome.FAILED, error="disk full")
    assert get_run(store, run_id).state is RunState.FINISHED
    assert set(verdicts(store, run_id).values()) == {Verdict.INFRA}


def test_a_shard_does_not_go_round_for_ever(store: Store) -> None:
    """A machine that stops its worker at every shard is a fault in the end."""
    arrive_and_plan(store, [names(1)])
    leases = 0
    while (leased := lease(store)) is not None:
        end(store, leased, ShardOutcome.STOPPED, error="The worker was stopped.")
        leases += 1
    assert leases == MOST_RETURNS + 3


def test_a_selection_lost_three_times_fails_the_run_with_the_reason(store: Store) -> None:
    """`failed` is the service's own fault, and the last error is in the headline."""
    run_id = arrive(store)
    for _ in range(3):
        end(store, must_lease(store), ShardOutcome.FAILED, error="git fetch: no such ref")
    run = get_run(store, run_id)
    assert (run.state, run.conclusion) == (RunState.FAILED, None)
    assert "git fetch: no such ref" in run.headline


def test_a_cancelled_run_stops_its_workers(store: Store) -> None:
    """The holder hears it with the next heartbeat, nobody gets new work, and every test has an outcome."""
    run_id = arrive_and_plan(store, [names(1), ["other"]])
    leased = must_lease(store)
    with store.writing() as session:
        cancel_run(session, run_id, later(1), "Enough.")
    assert _beat(store, leased, 2) is True
    assert lease(store, later(3)) is None
    end(store, leased, now=later(4))
    assert set(verdicts(store, run_id).values()) == {Verdict.INFRA}
    assert get_run(store, run_id).state is RunState.CANCELLED
    assert _shard(store, leased.shard.id).state is ShardState.LOST


def test_selecting_again_after_a_lost_selection(store: Store) -> None:
    """The second worker's selection counts; the first one's comes too late."""
    run_id = arrive(store)
    slow = must_lease(store)
    _expire(store, run_id, 31)
    quick = must_lease(store, later(32), "w2")
    post_selection(store, quick, report([names(1)]))
    with pytest.raises(LeaseLostError):
        post_selection(store, slow, report([names(2)]))
    assert len(verdicts(store, run_id)) == 1
