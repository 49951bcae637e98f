"""Lanes tell what happened to every shard: as the real functions write it down, and when lines are missing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import event

from relay.runs.leases import expire_leases
from relay.runs.queries import run_detail
from relay.runs.shard_history import Ending, Lane, Line, Phase, lanes, shard_lanes
from relay.store.engine import Store
from tests.relay.stories import START, TERMS, Story, passed, planned, report_of

TESTS = [f"test/test_demo.py::TestDemoSPYRE::test_{number}" for number in range(4)]


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


def read(story: Story, run: int) -> tuple[Lane, ...]:
    with story.store.reading() as session:
        summary = run_detail(session, run, "").run
        return shard_lanes(session, run, summary.created_at, summary.finished_at)


def told(lane: Lane) -> list[tuple[str, str, int]]:
    """Phase, ending, and how many seconds."""
    return [
        (
            span.phase.value,
            span.ending.value,
            -1 if span.end is None else round((span.end - span.begin).total_seconds()),
        )
        for span in lane.spans
    ]


def test_a_run_is_told_from_waiting_to_done(story: Story) -> None:
    run = story.open()
    assert [told(lane) for lane in read(story, run)] == [[("waiting", "next", -1)]]
    story.select(report_of([[planned(TESTS[0])], [planned(TESTS[1])]]))
    shard, lease, tests = story.lease()
    select, first, second = read(story, run)
    assert told(select) == [("waiting", "next", 1), ("selecting", "done", 1)]
    assert told(first) == [("waiting", "next", 1), ("starting", "next", -1)]
    assert told(second) == [("waiting", "next", -1)]
    story.report(shard, lease, [passed(test) for test in tests])
    story.finish(shard, lease)
    story.run_all({})
    _, first, second = read(story, run)
    assert told(first) == [("waiting", "next", 1), ("starting", "next", 1), ("running", "done", 1)]
    assert told(second) == [("waiting", "next", 4), ("starting", "next", 1), ("running", "done", 1)]
    assert {span.worker for span in first.spans} == {"", "worker-1"}


def test_a_lost_lease_and_the_next_attempt_are_both_told(story: Story) -> None:
    run = story.open()
    story.select(report_of([[planned(test) for test in TESTS]]))
    shard, lease, tests = story.lease()
    story.report(shard, lease, [passed(tests[0])])
    story.now += timedelta(seconds=60)
    with story.store.writing() as session:
        expire_leases(session, run, story.now, TERMS)
    story.worker = "worker-2"
    story.run_all({})
    lane = read(story, run)[1]
    assert told(lane) == [
        *(("waiting", "next", 1), ("starting", "next", 1), ("running", "given back", 60)),
        *(("waiting", "next", 1), ("starting", "next", 1), ("running", "done", 1)),
    ]
    assert lane.spans[2].why == "no heartbeat from worker worker-1"
    assert [(span.worker, span.attempt) for span in lane.spans[4:]] == [("worker-2", 2)] * 2


def test_lines_that_are_missing_leave_a_run_that_is_over_without_open_ends() -> None:
    """Of a very long history the last lines are not read."""
    begun = [Line(START, "shard.leased", "Shard 0 (select) is leased by w, attempt 1.")]
    (lane,) = lanes({0: 5}, begun, START, START + timedelta(seconds=9))
    assert told(lane) == [("waiting", "next", 0), ("selecting", "next", 9)]
    assert lanes({}, begun, START, None) == ()


def test_a_line_about_a_shard_that_is_not_there_tells_nothing() -> None:
    lines = [Line(START, kind, "Shard 9 is odd") for kind in ("shard.leased", "shard.done", "shard.due", "shard.lost")]
    lines += [Line(START, "tests.reported", "3 results of shard 9."), Line(START, "shard.done", "never written so")]
    assert lanes({0: 5}, lines, START, None) == lanes({0: 5}, [], START, None)


def test_an_end_without_a_beginning_is_not_drawn() -> None:
    lines = [Line(START, "shard.done", "Shard 1 is done."), Line(START, "tests.reported", "1 results of shard 1.")]
    assert lanes({1: 5}, lines, START, None)[0].spans == ()


def test_a_longer_history_takes_no_more_queries(story: Story) -> None:
    run = story.open()
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    def count() -> int:
        seen.clear()
        event.listen(story.store.engine, "before_cursor_execute", note)
        with story.store.reading() as session:
            shard_lanes(session, run, START, None)
        event.remove(story.store.engine, "before_cursor_execute", note)
        return len(seen)

    few = count()
    story.select(report_of([[planned(test)] for test in TESTS]))
    story.run_all({})
    assert count() == few <= 4
    assert Ending.DONE in {span.ending for lane in read(story, run) for span in lane.spans}
    assert Phase.RUNNING in {span.phase for lane in read(story, run) for span in lane.spans}
