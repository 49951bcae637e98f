"""Following a run: nothing is lost or doubled over broken streams, and polling takes over where nothing streams."""

from __future__ import annotations

import time

import pytest

from relay.client import ApiClient, NotFound, Unreachable
from relay.following import POLL_TRIES, STREAM_TRIES, follow
from relay.views import Conclusion, RunState
from tests.relay.stand_in import StandIn, a_run, events_of, serving


def no_wait(_: float) -> None:
    """Waiting is not what is tested."""


def test_ended_run_is_told_from_the_start() -> None:
    """All events of a run that is over, in one stream."""
    state = StandIn({1: a_run(1, RunState.FINISHED, Conclusion.SUCCESS)}, events=events_of(1, 4))
    with serving(state), ApiClient(state.url) as client:
        assert [event.id for event in follow(client, 1, sleep=no_wait)] == [1, 2, 3, 4]
    assert state.seen == ["0"]


def test_broken_streams_are_resumed_after_the_last_event() -> None:
    """Each event comes once although every stream carries two."""
    state = StandIn(
        {1: a_run(1, RunState.RUNNING)}, events=events_of(1, 5), events_per_stream=2, finish_after_streams=3
    )
    with serving(state), ApiClient(state.url) as client:
        assert [event.id for event in follow(client, 1, sleep=no_wait)] == [1, 2, 3, 4, 5]
    assert state.seen == ["0", "2", "4"]


def test_polling_where_nothing_streams() -> None:
    """A page in place of the stream leads to polling, which ends with the run."""
    state = StandIn({1: a_run(1, RunState.RUNNING)}, streams=False, finish_after_looks=STREAM_TRIES + 4)
    with serving(state), ApiClient(state.url) as client:
        texts = [event.text for event in follow(client, 1, sleep=no_wait)]
    assert texts == ["running, 3 of 3 tests reported", "finished, 3 of 3 tests reported"]


def test_unknown_run_is_said_at_once() -> None:
    """No retries for a run that does not exist."""
    with serving(StandIn({})) as state, ApiClient(state.url) as client:
        with pytest.raises(NotFound):
            next(follow(client, 5, sleep=no_wait))
        assert state.looks == 1


def test_deadline_ends_the_following_of_a_run_that_does_not_end() -> None:
    """The iterator stops; that the run is not final is the caller's to see."""
    with serving(StandIn({1: a_run(1, RunState.RUNNING)})) as state, ApiClient(state.url) as client:
        events = list(follow(client, 1, deadline=time.monotonic() + 0.2, poll_s=0.01))
    assert {event.kind for event in events} <= {"progress"}


def test_service_that_goes_away_for_good() -> None:
    """After a bounded number of looks the failure is told."""
    waits: list[float] = []
    state = StandIn({1: a_run(1, RunState.RUNNING)}, events=events_of(1, 1))
    service = serving(state)
    service.__enter__()
    with ApiClient(state.url) as client:
        following = follow(client, 1, sleep=waits.append)
        try:
            assert next(following).id == 1
        finally:
            service.__exit__(None, None, None)
        with pytest.raises(Unreachable):
            list(following)
    assert len(waits) <= STREAM_TRIES + POLL_TRIES
