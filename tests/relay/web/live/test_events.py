"""One reader tells every follower, on both databases; it starts with the first follower and ends with the last."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest
from sqlalchemy import event
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from relay.runs.creation import cancel_run
from relay.runs.event_listing import newest_event_id
from relay.runs.states import note
from relay.store.engine import Store
from relay.web.live.events import Follower, LiveEvents
from tests.relay.stories import Story

_Value = TypeVar("_Value")

WAIT_S = 20


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


@pytest.fixture
def live(store: Store) -> Iterator[LiveEvents]:
    events = LiveEvents(store, poll_s=0.02, kept=50)
    yield events
    events.close()


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """The threads that read events, one entry for each statement."""
    seen: list[str] = []

    def see(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "FROM run_events" in statement:
            seen.append(threading.current_thread().name)

    event.listen(store.engine, "before_cursor_execute", see)
    yield seen
    event.remove(store.engine, "before_cursor_execute", see)


async def soon(waited: Awaitable[_Value]) -> _Value:
    return await asyncio.wait_for(waited, WAIT_S)


async def ids(follower: Follower, count: int) -> list[int]:
    """The ids of the next `count` events."""
    found: list[int] = []
    while len(found) < count:
        found += [told.event_id for told in (await soon(follower.news())).told]
    return found


def newest(store: Store) -> int:
    with store.reading() as session:
        return newest_event_id(session)


def write(story: Story, run: int, count: int) -> None:
    """So many events of a run, in one transaction."""
    with story.store.writing() as session:
        for number in range(count):
            note(session, run, story.tick(), "tests.reported", f"{number} results.")


def test_everybody_hears_what_happens_from_one_reader(live: LiveEvents, story: Story) -> None:
    run = story.open()

    async def hear() -> list[list[int]]:
        with live.following() as one, live.following() as other:
            begun = [await soon(one.begin()), await soon(other.begin(after=0))]
            assert begun == [newest(story.store), 0]
            with story.store.writing() as session:
                cancel_run(session, run, story.tick(), "stop")
            return [await ids(one, 2), await ids(other, 3)]

    with statements(story.store) as asked:
        told, whole = asyncio.run(hear())
    assert whole[-2:] == told
    assert whole[-1] == newest(story.store)
    assert set(asked) - {"MainThread"} == {"live-events"}


def test_two_hundred_followers_cost_what_one_costs(live: LiveEvents, story: Story) -> None:
    run = story.open()

    async def hear(followers: int) -> None:
        with asyncio_stack(live, followers) as all_of_them:
            for follower in all_of_them:
                await soon(follower.begin(after=0))
            write(story, run, 3)
            wanted = newest(story.store)
            for follower in all_of_them:
                while (await soon(follower.news())).mark < wanted:
                    pass

    with statements(story.store) as asked:
        asyncio.run(hear(200))
    assert {name for name in asked if name != "MainThread"} == {"live-events"}
    # The one question of ours, and one of the reader each time it looks: never one for each follower.
    assert asked.count("MainThread") == 1


@contextmanager
def asyncio_stack(live: LiveEvents, count: int) -> Iterator[list[Follower]]:
    if not count:
        yield []
        return
    with live.following() as follower, asyncio_stack(live, count - 1) as others:
        yield [follower, *others]


def test_a_follower_who_falls_behind_hears_of_the_gap_and_goes_on(live: LiveEvents, story: Story) -> None:
    run = story.open()

    async def hear() -> None:
        with live.following() as slow, live.following() as quick:
            await soon(slow.begin())
            await soon(quick.begin())
            write(story, run, 80)  # more than the 50 that are kept
            while (await soon(quick.news())).mark < newest(story.store):
                pass
            news = await soon(slow.news())
            assert (news.gap, news.told, news.mark) == (True, (), newest(story.store))
            write(story, run, 1)
            assert await ids(slow, 1) == [newest(story.store)]

    asyncio.run(hear())


def test_who_was_away_for_longer_than_events_are_kept_hears_of_the_gap(live: LiveEvents, story: Story) -> None:
    write(story, story.open(), 80)

    async def hear() -> bool:
        with live.following() as follower:
            await soon(follower.begin(after=1))
            return (await soon(follower.news())).gap

    assert asyncio.run(hear())


def test_the_reader_ends_with_its_last_follower_and_begins_anew(live: LiveEvents, story: Story) -> None:
    run = story.open()

    async def hear() -> int:
        with live.following() as follower:
            await soon(follower.begin())
            assert live.newest == newest(story.store)
            write(story, run, 1)
            return (await ids(follower, 1))[0]

    assert live.newest is None
    for _ in range(2):
        assert asyncio.run(hear()) == newest(story.store)
        readers = [thread for thread in threading.enumerate() if thread.name == "live-events"]
        for thread in readers:
            thread.join(WAIT_S)
        assert live.newest is None


def test_a_follower_joins_while_the_last_reader_ends(live: LiveEvents, story: Story) -> None:
    """Nobody is left without a reader, however close leaving and joining are."""
    run = story.open()

    async def hear() -> None:
        for _ in range(30):
            with live.following() as follower:
                await soon(follower.begin())
                write(story, run, 1)
                await ids(follower, 1)

    asyncio.run(hear())


def test_a_record_that_cannot_be_read_for_a_while_loses_nothing(live: LiveEvents, story: Story) -> None:
    run, refused = story.open(), threading.Event()

    def refuse(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if threading.current_thread().name == "live-events":
            refused.set()
            raise PoolTimeoutError("every connection is taken")

    async def hear() -> list[int]:
        with live.following() as follower:
            await soon(follower.begin())
            event.listen(story.store.engine, "before_cursor_execute", refuse)
            assert await asyncio.to_thread(refused.wait, WAIT_S)
            event.remove(story.store.engine, "before_cursor_execute", refuse)
            write(story, run, 2)
            return await ids(follower, 2)

    assert asyncio.run(hear())[-1] == newest(story.store)


def test_a_follower_whose_loop_is_gone_stops_nobody(live: LiveEvents, story: Story) -> None:
    run = story.open()

    async def hear() -> list[int]:
        with live.following() as follower:
            await soon(follower.begin())
            write(story, run, 1)
            return await ids(follower, 1)

    async def begin(follower: Follower) -> None:
        await soon(follower.begin())

    gone = asyncio.new_event_loop()

    async def join() -> Follower:
        return entered.__enter__()

    entered = live.following()
    follower = gone.run_until_complete(join())
    gone.run_until_complete(begin(follower))
    gone.close()
    assert asyncio.run(hear()) == [newest(story.store)]
    entered.__exit__(None, None, None)


def test_nothing_is_read_once_it_is_closed(live: LiveEvents) -> None:
    """Also for who still follows; the record may be let go of then."""

    async def follow() -> None:
        with live.following() as follower:
            await soon(follower.begin(None))
            await asyncio.to_thread(live.close)
            assert not [thread for thread in threading.enumerate() if thread.name == "live-events"]

    asyncio.run(follow())
