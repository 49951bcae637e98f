"""A question for work that comes again, for its answer was lost: one lease while it lasts, and never one that ended."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from sqlalchemy import func, select, text

from relay.contract import Heartbeat, ShardKind, ShardOutcome
from relay.errors import LeaseLostError
from relay.runs.creation import cancel_run
from relay.runs.lease_ids import lease_id_of
from relay.runs.leases import LeasedShard, due_shards, expire_leases, heartbeat, lease_next
from relay.store.engine import Store
from relay.store.models import RunEvent, Shard, ShardState
from relay.views import RunState, Verdict
from tests.relay.worker_story import (
    DEVICE,
    NOW,
    TERMS,
    arrive,
    arrive_and_plan,
    end,
    get_run,
    later,
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
from tests.waiting import until

QUESTION, ANOTHER = "5" * 32, "6" * 32


def ask(
    store: Store, request: str = QUESTION, now: datetime = NOW, *, worker: str = "w1", device: str = DEVICE
) -> LeasedShard | None:
    with store.writing() as session:
        return lease_next(session, device, worker, now, TERMS, request=request)


def must_ask(store: Store, request: str = QUESTION, now: datetime = NOW) -> LeasedShard:
    leased = ask(store, request, now)
    assert leased is not None
    return leased


def sweep(store: Store, run_id: int, now: datetime) -> None:
    with store.writing() as session:
        expire_leases(session, run_id, now, TERMS)


def held_by(leased: LeasedShard) -> tuple[int, str, int]:
    return leased.shard.id, lease_id(leased), leased.shard.attempt


def lines_of(store: Store, run_id: int) -> int:
    with store.reading() as session:
        return session.scalar(select(func.count()).where(RunEvent.run_id == run_id)) or 0


def test_however_often_the_answer_is_lost_the_lease_is_the_same_and_counts_once(store: Store) -> None:
    """Of both kinds of shards: three answers that were lost used to fail a run."""
    run_id = arrive(store)
    arrive(store, new_run(pr_number=8))
    first = must_ask(store)
    told = lines_of(store, run_id)
    for seconds in (20, 40, 60):
        again = must_ask(store, now=later(seconds))
        sweep(store, run_id, later(seconds + 29))
        assert held_by(again) == held_by(first)
    assert (again.run.id, again.shard.kind, again.shard.attempt) == (run_id, ShardKind.SELECT, 1)
    assert (again.shard.leased_at, lines_of(store, run_id)) == (NOW, told)
    assert get_run(store, run_id).served_at == NOW
    post_selection(store, again, report([names(2), ["other"]]))
    testing = must_ask(store, ANOTHER, later(61))
    for seconds in (80, 100, 120):
        assert held_by(must_ask(store, ANOTHER, later(seconds))) == held_by(testing)
    post_results(store, testing, passes(testing))
    end(store, testing)
    assert list(verdicts(store, run_id).values()).count(Verdict.OK) == 2


def test_a_question_that_comes_again_keeps_the_lease_as_a_heartbeat_does(store: Store) -> None:
    """The worker is told a whole lease, so it has one; also when the sweep has not come to one that is overdue."""
    run_id = arrive(store)
    leased = must_ask(store)
    for seconds in (25, 50, 90):
        must_ask(store, now=later(seconds))
        sweep(store, run_id, later(seconds + 29))
        with store.writing() as session:
            beat = Heartbeat(lease_id=lease_id(leased))
            assert heartbeat(session, leased.shard.id, beat, later(seconds + 1), TERMS) is False


def test_a_question_that_comes_again_is_told_only_the_tests_that_are_left(store: Store) -> None:
    """As the next holder would be."""
    arrive_and_plan(store, [names(2)])
    leased = must_ask(store)
    post_results(store, leased, passes(LeasedShard(leased.run, leased.shard, leased.tests[:1])))
    assert must_ask(store).tests == leased.tests[1:]


def test_twins_of_one_question_at_once_have_one_lease(store: Store) -> None:
    """Eight tries of each of two workers' questions, at the same moment, on a record that replicas share: each worker
    has one shard, and the others stay due."""
    arrive_and_plan(store, [[name] for name in names(6)])
    barrier = threading.Barrier(16)

    def one(number: int) -> tuple[int, tuple[int, str, int]]:
        worker = number % 2
        barrier.wait(timeout=30)
        leased = ask(store, (QUESTION, ANOTHER)[worker], worker=f"w{worker}")
        assert leased is not None
        return worker, held_by(leased)

    with ThreadPoolExecutor(16) as pool:
        got = set(pool.map(one, range(16)))
    assert [worker for worker, _ in sorted(got)] == [0, 1]
    assert {attempt for _, (_, _, attempt) in got} == {1}
    with store.reading() as session:
        assert due_shards(session) == {DEVICE: 4}


@pytest.mark.parametrize("how", ["expired", "stopped", "failed"])
def test_a_lease_that_ended_is_not_given_again_to_its_question(store: Store, how: str) -> None:
    """Not even with the same shard: that is another lease, of which the reports of the first are refused."""
    run_id = arrive_and_plan(store, [names(1)])
    ended = must_ask(store)
    if how == "expired":
        sweep(store, run_id, later(31))
    else:
        end(store, ended, ShardOutcome(how), error="Went.")
    again = must_ask(store, now=later(32))
    assert again.shard.id == ended.shard.id
    assert (lease_id(again) != lease_id(ended), again.shard.attempt) == (True, 2)
    with pytest.raises(LeaseLostError):
        post_results(store, ended, passes(ended))
    post_results(store, again, passes(again))
    assert held_by(must_ask(store, now=later(33))) == held_by(again)


def test_a_question_whose_shard_is_done_or_cancelled_gets_other_work_or_none(store: Store) -> None:
    run_id = arrive_and_plan(store, [["first"], ["second"]])
    done = must_ask(store)
    post_results(store, done, passes(done))
    end(store, done)
    second = must_ask(store)
    assert second.shard.id != done.shard.id
    assert lease_id(second) != lease_id(done)
    with store.writing() as session:
        cancel_run(session, run_id, NOW, "enough")
    assert ask(store) is None
    assert get_run(store, run_id).state is RunState.CANCELLED


def test_a_lease_that_ends_while_its_question_waits_for_the_run_is_not_given(store: Store) -> None:
    """The sweep was first, and other work, or none, is the answer."""
    run_id = arrive_and_plan(store, [names(1)])
    leased = must_ask(store)
    shared = store.engine.dialect.name == "postgresql"

    def somebody_waits() -> bool:
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        with store.reading() as session:
            return not shared or session.scalar(text(waiting)) > 0

    with ThreadPoolExecutor(1) as pool:
        with store.writing() as session:
            expire_leases(session, run_id, later(31), TERMS)
            asked = pool.submit(ask, store, QUESTION, later(31))
            until(somebody_waits)
        found = asked.result(timeout=30)
    assert found is None or lease_id(found) != lease_id(leased)
    with pytest.raises(LeaseLostError):
        post_results(store, leased, passes(leased))


def test_a_question_is_one_workers_and_one_devices(store: Store) -> None:
    """Who repeats another's name of a question has no part in its lease."""
    arrive(store, new_run(device="quartz"))
    arrive_and_plan(store, [["first"], ["second"]])
    first = must_ask(store)
    for other in (ask(store, worker="w2"), ask(store, device="quartz")):
        assert other is not None
        assert other.shard.id != first.shard.id
        assert lease_id(other) != lease_id(first)


def test_a_worker_that_names_no_question_is_served_as_before(store: Store) -> None:
    """An older one: each time it asks it gets another shard, whose lease has an id of its own."""
    arrive_and_plan(store, [[name] for name in names(3)])
    leased = [must_lease(store) for _ in range(3)]
    assert len({one.shard.id for one in leased}) == len({lease_id(one) for one in leased}) == 3
    assert ask(store, "") is None
    with store.reading() as session:
        states = session.scalars(select(Shard.state).where(Shard.kind == ShardKind.TEST)).all()
    assert states == [ShardState.LEASED] * 3


def test_an_id_has_the_form_that_ids_have_and_does_not_tell_the_question() -> None:
    made = lease_id_of(QUESTION, DEVICE, 3, 1)
    assert made == lease_id_of(QUESTION, DEVICE, 3, 1)
    others = {
        lease_id_of(ANOTHER, DEVICE, 3, 1),
        lease_id_of(QUESTION, "quartz", 3, 1),
        lease_id_of(QUESTION, DEVICE, 4, 1),
        lease_id_of(QUESTION, DEVICE, 3, 2),
        lease_id_of("", DEVICE, 3, 1),
        lease_id_of("", DEVICE, 3, 1),
    }
    assert len(others - {made}) == 6
    assert {len(one) for one in (made, *others)} == {32}
    assert QUESTION not in made
