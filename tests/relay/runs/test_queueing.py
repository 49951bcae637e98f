"""The queue as it is read from the record, and leasing by it: fair, quick to ask, and safe with many at once."""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime

from sqlalchemy import event, select

from relay.contract import ShardKind, ShardOutcome, WorkerPresent
from relay.queue_views import WorkClass
from relay.runs.creation import cancel_run, open_run, rerun
from relay.runs.leases import LeasedShard, lease_next
from relay.runs.lines import line_of
from relay.runs.presence import say_present
from relay.runs.queueing import load_queue
from relay.runs.scheduling import Policy, Queue
from relay.store.engine import Store
from relay.store.models import Run, Shard, ShardState, Trigger
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
    must_lease,
    new_run,
    passes,
    post_results,
    post_selection,
    report,
)


def pull(number: int, shards: int = 1) -> list[list[str]]:
    return [[f"test_ops.py::T::test_{number}_{place}"] for place in range(shards)]


def queue_of(store: Store, now: datetime = NOW) -> Queue:
    with store.reading() as session:
        return load_queue(session, DEVICE, now)


def done(store: Store, leased: LeasedShard, now: datetime) -> None:
    post_results(store, leased, passes(leased), now)
    end(store, leased, now=now)


def present(store: Store, workers: int, at: datetime = NOW) -> None:
    for number in range(workers):
        said = WorkerPresent(
            worker=f"w{number}", device=DEVICE, process="p", version="1", concurrency=1, sandbox="none"
        )
        with store.writing() as session:
            say_present(session, said, at)


def test_the_queue_tells_what_waits_who_works_and_what_was_used(store: Store) -> None:
    planned = report(pull(1, 3)).model_copy(update={"shard_seconds": (30.0, 20.0, 10.0)})
    run_id = arrive(store, new_run(pr_number=1))
    post_selection(store, must_lease(store), planned, later(60))
    done(store, must_lease(store, later(60)), later(90))
    must_lease(store, later(100))
    other = arrive(store, new_run(pr_number=2, device="other"))
    present(store, 3, later(100))
    queue = queue_of(store, later(110))
    (due,) = queue.due
    assert (due.run_id, due.work_class, due.group) == (run_id, WorkClass.PULL_REQUEST, "pr:pytorch/pytorch#1")
    assert (due.age_s, due.shards, due.expected_s, due.asked) == (110.0, 1, 10.0, False)
    assert queue.leases == {(WorkClass.PULL_REQUEST, "pr:pytorch/pytorch#1"): 1}
    assert queue.slots == 3
    assert queue.used_s == {"pr:pytorch/pytorch#1": 90.0}
    assert queue_of(store, later(3_800)).used_s == {}, "what was used more than an hour ago does not count"
    assert get_run(store, other).work_class is WorkClass.PULL_REQUEST


def test_a_run_without_a_plan_counts_as_much_as_runs_usually_take(store: Store) -> None:
    arrive_and_plan(store, pull(1))
    done(store, must_lease(store), later(80))
    arrive(store, new_run(pr_number=2))
    assert [run.expected_s for run in queue_of(store).due] == [80.0]


def test_asking_costs_the_same_number_of_queries_however_much_waits(store: Store) -> None:
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    numbers = []
    for more in (1, 12):
        for number in range(more):
            arrive(store, new_run(pr_number=number))
        asked.clear()
        queue_of(store)
        numbers.append(sum(line.startswith("SELECT") for line in asked))
    assert numbers == [5, 5]


def test_what_runs_are_for_decides_their_class_and_group(store: Store) -> None:
    push = replace(new_run(pr_number=None), base_ref="refs/heads/main")
    audit = replace(push, identity="a", trigger=Trigger.AUDIT)
    for new, expected in (
        (new_run(pr_number=3), (WorkClass.PULL_REQUEST, "pr:pytorch/pytorch#3", False)),
        (new_run(pr_number=3, trigger=Trigger.MANUAL), (WorkClass.PULL_REQUEST, "pr:pytorch/pytorch#3", True)),
        (push, (WorkClass.MERGED, "ref:pytorch/pytorch:refs/heads/main", False)),
        (audit, (WorkClass.AUDIT, "audit", False)),
        (replace(audit, identity="n", work_class=WorkClass.NIGHTLY), (WorkClass.NIGHTLY, "nightly", False)),
        (replace(new_run(trigger=Trigger.CONFIRM), rerun_of=1), (WorkClass.AUDIT, "audit", False)),
    ):
        run = get_run(store, arrive(store, new))
        assert (run.work_class, run.group_key, run.asked) == expected


def test_done_again_by_hand_a_run_keeps_its_class_and_counts_as_asked_for(store: Store) -> None:
    audit = arrive(store, replace(new_run(pr_number=None, trigger=Trigger.AUDIT), work_class=WorkClass.NIGHTLY))
    with store.writing() as session:
        cancel_run(session, audit, NOW, "stop")
        again = rerun(session, audit, NOW, failed_only=False)
        assert (again.work_class, again.asked) == (WorkClass.NIGHTLY, True)


def test_a_large_run_shares_the_workers_with_those_that_come_after_it(store: Store) -> None:
    """With three workers, ten shards of one pull request and one of each of two others wait: each gets a worker; and
    when the others are done the large one has all of them."""
    present(store, 3, later(60))
    runs = [arrive(store, new_run(pr_number=1))]
    post_selection(store, must_lease(store), report(pull(1, 10)), later(65))
    runs += [arrive(store, new_run(pr_number=number), later(70)) for number in (2, 3)]
    selecting = [must_lease(store, later(70)) for _ in range(2)]
    assert [leased.run.id for leased in selecting] == runs[1:], "who has used no time is selected first"
    for leased in selecting:
        post_selection(store, leased, report(pull(leased.run.id)), later(75))
    first = [must_lease(store, later(90), f"w{number}") for number in range(3)]
    assert Counter(leased.run.id for leased in first) == dict.fromkeys(runs, 1)
    for leased in first:
        done(store, leased, later(100))
    again = [must_lease(store, later(100), f"w{number}") for number in range(3)]
    assert {leased.run.id for leased in again} == {runs[0]}


def test_a_push_to_the_branch_goes_first_and_supersedes_nothing(store: Store) -> None:
    pull_request = arrive(store, new_run(pr_number=1))
    pushes = [arrive(store, replace(new_run(pr_number=None), base_ref="refs/heads/main")) for _ in range(2)]
    assert must_lease(store).run.id in pushes
    with store.reading() as session:
        line = line_of(session, DEVICE, NOW, Policy())
    assert set(line.placed) | {pushes[0]} == {pull_request, *pushes}


def test_shards_remember_how_long_their_leases_took(store: Store) -> None:
    run_id = arrive_and_plan(store, pull(1))
    end(store, must_lease(store, later(10)), ShardOutcome.STOPPED, error="stopped", now=later(25))
    leased = must_lease(store, later(30))
    done(store, leased, later(50))
    with store.reading() as session:
        assert session.get_one(Shard, leased.shard.id).took_s == 35.0
    assert get_run(store, run_id).served_s == 35.0


def test_workers_reports_and_cancellations_at_once_neither_deadlock_nor_lease_twice(store: Store) -> None:
    """Six workers lease, report, give back and say goodbye while pushes supersede, people cancel, and audits come. No
    shard is leased twice at once, and in the end each run is over."""
    numbers = random.Random(7)  # noqa: S311 - a choice that can be repeated
    leases: list[tuple[int, int]] = []
    told = threading.Lock()
    for number in range(1, 9):
        arrive(store, new_run(pr_number=number))
    quiet = threading.Event()

    def work(name: str) -> None:
        idle = 0
        while idle < 3:
            with store.writing() as session:
                leased = lease_next(session, DEVICE, name, NOW, TERMS)
            if leased is None:
                idle += quiet.is_set()
                quiet.wait(0.02)
                continue
            with told:
                leases.append((leased.shard.id, leased.shard.attempt))
                choice = numbers.random()
            try:
                _do(store, leased, choice)
            except Exception as error:
                if type(error).__name__ != "LeaseLostError":
                    raise

    def disturb() -> None:
        for number in range(1, 9):
            with store.writing() as session:
                newer = open_run(session, new_run(pr_number=number), NOW)
                push = replace(new_run(pr_number=None), base_ref="refs/heads/main")
                open_run(session, push if number % 2 else replace(push, trigger=Trigger.AUDIT), NOW)
            if number % 3 == 0:
                with store.writing() as session:
                    cancel_run(session, newer.id, NOW, "stop")
        quiet.set()

    with ThreadPoolExecutor(7) as pool:
        for job in [pool.submit(disturb), *(pool.submit(work, f"w{number}") for number in range(6))]:
            job.result(timeout=60)
    assert len(leases) == len(set(leases)), "a shard was leased twice in one attempt"
    with store.reading() as session:
        left = session.scalars(select(Shard.state).where(Shard.state.in_((ShardState.DUE, ShardState.LEASED)))).all()
        assert left == []
        assert {run.state.value for run in session.scalars(select(Run))} <= {"finished", "cancelled"}


def _do(store: Store, leased: LeasedShard, choice: float) -> None:
    """What a worker does with a shard, and at times does not."""
    if choice < 0.2 and leased.shard.attempt == 1:
        end(store, leased, ShardOutcome.STOPPED, error="The worker was stopped.")
    elif leased.shard.kind is ShardKind.SELECT:
        post_selection(store, leased, report(pull(leased.run.id, 3)))
    else:
        done(store, leased, NOW)


def test_nothing_due_is_nothing_leased_and_nothing_loaded_beside(store: Store) -> None:
    arrive(store, new_run(pr_number=1))
    must_lease(store)
    assert lease(store) is None
