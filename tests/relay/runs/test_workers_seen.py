"""Who counts workers counts all of them, in the states that a page shows them in; on both databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import count

import pytest

from relay.contract import ShardKind, WorkerPresent
from relay.metrics.pulse import take_pulse
from relay.now_views import WorkerState
from relay.runs.presence import say_present
from relay.runs.workers_seen import Sighting, sightings, workers_seen
from relay.store.engine import Store
from relay.store.models import Shard, ShardState
from relay.store.presence_models import Worker
from tests.relay.stories import DEVICE, TERMS, Story, report_of

OTHER = "quartz"
PULLS = count(1)


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


def say(story: Story, name: str, **more: object) -> None:
    said = WorkerPresent(worker=name, device=DEVICE, process="p1", version="1").model_copy(update=more)
    with story.store.writing() as session:
        say_present(session, said, story.now)


def work(story: Story, name: str, *, ends: bool = False) -> None:
    """Take the only shard that is due, of a pull request of its own, and end it or keep it."""
    story.open(pr=next(PULLS))
    story.worker = name
    if ends:
        story.select(report_of([]))
    else:
        story.lease()
    assert not story.due()


def fill(story: Story, device: str, *, waiting: int, working: int) -> None:
    """So many workers of a device, each heard of at this moment."""
    story.device = device
    run_id = story.open()
    expires = story.now + timedelta(seconds=TERMS.lease_seconds)
    with story.store.writing() as session:
        session.add_all(_waiting(story, device, waiting))
        session.add_all(
            Shard(
                run_id=run_id,
                ordinal=number,
                kind=ShardKind.TEST,
                state=ShardState.LEASED,
                lease_worker=f"at work {number}",
                lease_expires_at=expires,
            )
            for number in range(1, working + 1)
        )


def _waiting(story: Story, device: str, total: int) -> Iterator[Worker]:
    for number in range(total):
        yield Worker(
            name=f"waiting {number}",
            device=device,
            process="p",
            version="1",
            concurrency=1,
            environments=[],
            started_at=story.now,
            seen_at=story.now,
        )


def test_they_are_counted_as_they_are_shown(story: Story) -> None:
    """Whatever a worker is known by: what it says, leases that it holds or held, or several of these."""
    say(story, "forgotten")
    work(story, "worked and forgotten", ends=True)
    work(story, "holds what is long over")
    story.now += timedelta(days=2)
    for name in ("silent", "worked and silent"):
        say(story, name)
    work(story, "worked and silent", ends=True)
    work(story, "silent at work")
    work(story, "silent on one of two")
    story.now += timedelta(minutes=10)
    work(story, "silent on one of two")
    work(story, "of a version that says nothing", ends=True)
    work(story, "worked and waits", ends=True)
    work(story, "twice at work")
    work(story, "twice at work")
    for name in ("waits", "twice at work", "gone", "worked and waits", "holds what is long over"):
        say(story, name)
    say(story, "gone", leaving=True)
    say(story, "cannot", trouble="The disk is full.")
    say(story, "waits", device=OTHER)
    work(story, "goes at work")
    say(story, "goes at work")
    say(story, "goes at work", leaving=True)
    with story.store.reading() as session:
        shown = workers_seen(session, story.now, lease_seconds=TERMS.lease_seconds)
        counted = sightings(session, story.now, lease_seconds=TERMS.lease_seconds)
    assert Counter(counted) == Counter(Sighting(each.device, each.state, each.seen_at) for each in shown)
    assert {each.state for each in counted} == set(WorkerState)
    assert len(counted) == 13


def test_no_device_is_lost_behind_many_workers_of_another(story: Story) -> None:
    """More than any page shows, waiting and at work, all heard of later than those of the other."""
    fill(story, OTHER, waiting=5, working=3)
    story.now += timedelta(seconds=10)
    fill(story, DEVICE, waiting=505, working=205)
    with story.store.reading() as session:
        pulse = take_pulse(session, story.now, lease_seconds=TERMS.lease_seconds)
    assert pulse.workers == {
        (DEVICE, WorkerState.IDLE): 505,
        (DEVICE, WorkerState.WORKING): 205,
        (OTHER, WorkerState.IDLE): 5,
        (OTHER, WorkerState.WORKING): 3,
    }
    assert pulse.heartbeat_age_s == {DEVICE: 0, OTHER: pytest.approx(11, abs=0.1)}
