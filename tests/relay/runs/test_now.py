"""Runs that are not over are told by device: who runs, who waits, in which place; on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from relay.now_views import Expectation, ExpectedBy, NowView, RunNow, ShardsNow, WorkerState
from relay.runs.creation import cancel_run
from relay.runs.leases import expire_leases
from relay.runs.now import now_board, queue
from relay.runs.queries import run_summary
from relay.store.engine import Store
from tests.relay.stories import DEVICE, TERMS, Story, passed, planned, report_of

TESTS = [f"test/test_demo_ops.py::TestDemoOpsSPYRE::test_op{number}__float32" for number in range(3)]
URL = "https://relay.example"


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


def board(story: Story, device: str = "", *, after_s: float = 0.0) -> NowView:
    now = story.now + timedelta(seconds=after_s)
    with story.store.reading() as session:
        return now_board(session, URL, (DEVICE,), now, lease_seconds=TERMS.lease_seconds, device=device)


def test_an_idle_service_shows_its_own_device(story: Story) -> None:
    (device,) = board(story).devices
    assert (device.device, device.running, device.queued, device.queued_total, device.workers) == (
        DEVICE,
        (),
        (),
        0,
        (),
    )


def test_the_queue_is_in_the_order_in_which_it_is_served(story: Story) -> None:
    runs = [story.open(pr=number) for number in (1, 2, 3)]
    (device,) = board(story).devices
    assert [(state.place, state.run.id) for state in device.queued] == list(enumerate(runs, start=1))
    story.lease()
    (device,) = board(story).devices
    assert [state.run.id for state in device.running] == runs[:1]
    assert [(state.place, state.run.id) for state in device.queued] == list(enumerate(runs[1:], start=1))


def test_a_run_waits_again_when_its_worker_is_gone(story: Story) -> None:
    run = story.open()
    story.lease()
    story.now += timedelta(seconds=TERMS.lease_seconds + 1)
    with story.store.writing() as session:
        expire_leases(session, run, story.now, TERMS)
    (device,) = board(story).devices
    assert device.running == ()
    (waiting,) = device.queued
    assert (waiting.run.id, waiting.shards) == (run, ShardsNow(waiting=1))
    assert [worker.state for worker in device.workers] == [WorkerState.IDLE]


def test_runs_that_are_over_are_not_now(story: Story) -> None:
    run = story.open()
    with story.store.writing() as session:
        cancel_run(session, run, story.tick(), "stop")
    (device,) = board(story).devices
    assert (device.running, device.queued) == ((), ())


def test_a_run_shows_its_shards_and_who_works_on_it(story: Story) -> None:
    story.open()
    story.select(report_of([[planned(test)] for test in TESTS]))
    for worker in ("w1", "w2"):
        story.worker = worker
        shard, lease, tests = story.lease()
    story.report(shard, lease, [passed(test) for test in tests])
    story.finish(shard, lease)
    (device,) = board(story, after_s=5).devices
    (state,) = device.running
    assert state.shards == ShardsNow(waiting=1, at_work=1, ended=2)
    assert state.workers == ("w1",)
    assert [(worker.name, worker.state) for worker in device.workers] == [
        *(("w1", WorkerState.WORKING), ("w2", WorkerState.IDLE), ("worker-1", WorkerState.IDLE))
    ]


def test_a_worker_is_silent_when_its_heartbeats_stop_and_forgotten_after_a_day(story: Story) -> None:
    run = story.open()
    story.lease()
    (worker,) = board(story, after_s=5).devices[0].workers
    assert (worker.state, worker.seen_at) == (WorkerState.WORKING, story.now)
    (worker,) = board(story, after_s=25).devices[0].workers
    assert (worker.state, worker.run_id, worker.kind) == (WorkerState.SILENT, run, "select")
    assert board(story, after_s=90_000).devices[0].workers == ()


def test_one_device_alone(story: Story) -> None:
    story.open()
    assert [device.device for device in board(story, "other").devices] == ["other"]
    (device,) = board(story, DEVICE).devices
    assert device.queued_total == 1


def state_of(story: Story, run: int, *, elapsed_s: float = 0.0, expected_s: float | None) -> RunNow:
    with story.store.reading() as session:
        summary = run_summary(session, run, URL)
    expected = None if expected_s is None else Expectation(seconds=expected_s, runs=3, by=ExpectedBy.KIND)
    return RunNow(run=summary, elapsed_s=elapsed_s, expected=expected, shards=ShardsNow(), workers=())


def test_a_waiting_run_starts_when_those_before_it_are_done(story: Story) -> None:
    run = story.open()
    running = [state_of(story, run, elapsed_s=40, expected_s=100), state_of(story, run, elapsed_s=200, expected_s=100)]
    waiting = [state_of(story, run, expected_s=30), state_of(story, run, expected_s=10)]
    assert [state.starts_in_s for state in queue(running, waiting, 1)] == [60, 90]
    assert [state.starts_in_s for state in queue(running, waiting, 2)] == [30, 45]


def test_there_is_no_guess_without_a_worker_or_behind_the_unknown(story: Story) -> None:
    run = story.open()
    known, unknown = state_of(story, run, expected_s=30), state_of(story, run, expected_s=None)
    assert [state.starts_in_s for state in queue([], [known], 0)] == [None]
    assert [state.starts_in_s for state in queue([], [known, unknown, known], 1)] == [0, 30, None]
