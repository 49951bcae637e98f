"""Workers that say they are there are seen while they wait, silent ones too, and forgotten after a day; on both
databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from relay.contract import TestedOn, WorkerPresent
from relay.now_views import WorkerNow, WorkerState
from relay.runs.now import now_board
from relay.runs.presence import MISSED_BEATS, PRESENCE_EVERY_S, forget_workers, say_present
from relay.runs.worker_differences import differences
from relay.runs.workers_seen import SHOWN, starting_workers, workers_seen
from relay.store.engine import Store
from relay.store.presence_models import Worker
from tests.relay.stories import DEVICE, TERMS, Story

TORCH = TestedOn(name="default", torch_version="2.13.0", python_version="3.11.7", device_profile="compat")


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


def said(name: str = "w1", **more: object) -> WorkerPresent:
    message = WorkerPresent(
        worker=name, device=DEVICE, process="p1", version="1", sandbox="bubblewrap", environments=(TORCH,)
    )
    return message.model_copy(update=more)


def say(story: Story, message: WorkerPresent) -> None:
    with story.store.writing() as session:
        say_present(session, message, story.now)


def seen(story: Story, *, after_s: float = 0.0, device: str = "") -> tuple[WorkerNow, ...]:
    now = story.now + timedelta(seconds=after_s)
    with story.store.reading() as session:
        return workers_seen(session, now, lease_seconds=TERMS.lease_seconds, device=device)


def test_a_worker_that_never_worked_is_there(story: Story) -> None:
    say(story, said())
    (worker,) = seen(story, after_s=5)
    assert (worker.name, worker.state, worker.leased, worker.run_id) == ("w1", WorkerState.IDLE, False, None)
    assert worker.seen_at == story.now
    assert worker.about is not None
    assert (worker.about.version, worker.about.environments) == ("1", (TORCH,))


def test_one_that_can_do_nothing_says_why_until_it_can(story: Story) -> None:
    """It starts nothing, so that a guess of when a run begins does not count on it."""
    say(story, said(trouble="The disk is full."))
    (worker,) = seen(story)
    assert worker.state is WorkerState.UNABLE
    assert worker.about is not None
    assert (worker.about.trouble, starting_workers([worker])) == ("The disk is full.", 0)
    say(story, said())
    (worker,) = seen(story)
    assert worker.state is WorkerState.IDLE
    assert worker.about is not None
    assert (worker.about.trouble, starting_workers([worker])) == ("", 1)


def test_what_it_holds_and_whether_it_is_there_count_more_than_its_trouble(story: Story) -> None:
    say(story, said(trouble="The disk is full."))
    limit = MISSED_BEATS * PRESENCE_EVERY_S
    assert [worker.state for worker in seen(story, after_s=limit + 1)] == [WorkerState.SILENT]
    say(story, said(leaving=True))
    assert [worker.state for worker in seen(story)] == [WorkerState.LEFT]


def test_it_is_silent_when_three_heartbeats_did_not_come(story: Story) -> None:
    say(story, said())
    limit = MISSED_BEATS * PRESENCE_EVERY_S
    assert [worker.state for worker in seen(story, after_s=limit)] == [WorkerState.IDLE]
    assert [worker.state for worker in seen(story, after_s=limit + 1)] == [WorkerState.SILENT]
    assert starting_workers(seen(story, after_s=limit + 1)) == 0


def test_a_lease_says_more_than_presence(story: Story) -> None:
    """Also when the process that waits for work is fine and the one that works is not."""
    run = story.open()
    story.worker = "w1"
    story.lease()
    say(story, said())
    (worker,) = seen(story)
    assert (worker.state, worker.leased, worker.run_id) == (WorkerState.WORKING, True, run)
    assert worker.about is not None
    story.now += timedelta(seconds=25)
    say(story, said())
    assert [worker.state for worker in seen(story)] == [WorkerState.SILENT]


def test_a_worker_of_several_slots_is_one_worker(story: Story) -> None:
    """At work on the newest of them, with the number of all."""
    runs = [story.open(pr=number) for number in (1, 2, 3)]
    story.worker = "w1"
    for _ in runs[:2]:
        story.lease()
    say(story, said(concurrency=4))
    (worker,) = seen(story)
    assert (worker.state, worker.run_id, worker.leases) == (WorkerState.WORKING, runs[1], 2)


def test_who_worked_and_waits_has_a_past(story: Story) -> None:
    run = story.open()
    story.worker = "w1"
    shard, lease, _ = story.lease()
    story.finish(shard, lease)
    say(story, said())
    (worker,) = seen(story, after_s=7_200)
    assert (worker.state, worker.run_id, worker.kind) == (WorkerState.SILENT, run, "select")


def test_who_said_goodbye_is_gone_and_not_shown_as_there(story: Story) -> None:
    say(story, said())
    say(story, said(leaving=True))
    assert [worker.state for worker in seen(story)] == [WorkerState.LEFT]
    with story.store.reading() as session:
        (device,) = now_board(session, "", (DEVICE,), story.now, lease_seconds=30).devices
    assert device.workers == ()


def test_the_goodbye_of_a_process_that_was_replaced_says_nothing(story: Story) -> None:
    say(story, said())
    story.now += timedelta(seconds=5)
    say(story, said(process="p2"))
    say(story, said(leaving=True))
    (worker,) = seen(story)
    assert worker.state is WorkerState.IDLE
    assert worker.about is not None
    assert worker.about.started_at == story.now


def test_a_goodbye_of_a_stranger_leaves_no_worker_that_is_there(story: Story) -> None:
    say(story, said(leaving=True))
    assert [worker.state for worker in seen(story)] == [WorkerState.LEFT]


def test_it_is_forgotten_after_a_day(story: Story) -> None:
    say(story, said("old"))
    story.now += timedelta(hours=25)
    say(story, said("new"))
    assert [worker.name for worker in seen(story)] == ["new"]
    with story.store.writing() as session:
        assert forget_workers(session, story.now, limit=10) == 1
    with story.store.reading() as session:
        assert session.scalar(select(func.count(Worker.id))) == 1


def test_what_it_says_last_counts(story: Story) -> None:
    say(story, said())
    say(story, said(version="2", concurrency=4, environments=()))
    (worker,) = seen(story)
    assert worker.about is not None
    assert (worker.about.version, worker.about.concurrency, worker.about.environments) == ("2", 4, ())
    assert starting_workers((worker,)) == 4


def test_many_workers_of_one_device_do_not_hide_those_of_another(story: Story) -> None:
    for number in range(SHOWN + 5):
        say(story, said(f"w{number}"))
    story.now -= timedelta(seconds=1)
    say(story, said("lonely", device="other"))
    story.now += timedelta(seconds=1)
    assert [worker.device for worker in seen(story)] == [DEVICE] * SHOWN + ["other"]
    assert len(seen(story, device=DEVICE)) == SHOWN


def test_a_name_means_a_worker_of_a_device(story: Story) -> None:
    say(story, said())
    say(story, said(device="other"))
    assert [(worker.name, worker.device) for worker in seen(story, device="other")] == [("w1", "other")]
    assert len(seen(story)) == 2


def test_hostile_names_are_only_text(story: Story) -> None:
    """What a worker says of itself is a claim of a machine that ran code nobody has read."""
    say(story, said("a\0b" + "x" * 490, version="\ud800", sandbox="\0"))
    (worker,) = seen(story)
    assert worker.name.startswith("a\N{REPLACEMENT CHARACTER}b")
    say(story, said("a\0b" + "x" * 490))
    assert len(seen(story)) == 1


def test_two_first_words_at_once_make_one_worker(story: Story) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: say(story, said()), range(16)))
    assert len(seen(story)) == 1


def test_those_at_work_come_first_then_those_that_wait(story: Story) -> None:
    say(story, said("silent"))
    story.now += timedelta(minutes=5)
    story.open()
    story.worker = "working"
    story.lease()
    for name in ("idle", "working", "gone"):
        say(story, said(name))
    say(story, said("gone", leaving=True))
    assert [worker.name for worker in seen(story)] == ["working", "idle", "silent", "gone"]


def test_very_many_are_cut(story: Story) -> None:
    for number in range(110):
        say(story, said(f"w{number}"))
    assert len(seen(story)) == 100


def test_workers_that_are_not_alike_are_told_by_trait(story: Story) -> None:
    """Only of those that are there, and by device."""
    for name in ("w1", "w2"):
        say(story, said(name))
    assert differences(seen(story)) == ()
    older = TORCH.model_copy(update={"torch_version": "2.12.1", "torch_git_sha": "a" * 40})
    say(story, said("w3", environments=(older,), version="0.9", sandbox="none: bubblewrap is not installed"))
    say(story, said("elsewhere", device="other", version="0.1"))
    found = {each.trait: [(value.value, value.workers) for value in each.values] for each in differences(seen(story))}
    assert found == {
        "relay version": [("1", ("w1", "w2")), ("0.9", ("w3",))],
        "torch": [("2.13.0", ("w1", "w2")), (f"2.12.1 of {'a' * 12}", ("w3",))],
        "sandbox": [("bubblewrap", ("w1", "w2")), ("none", ("w3",))],
    }
    say(story, said("w3", leaving=True))
    assert differences(seen(story)) == ()
