"""Readers get whole pages with a fixed number of queries, and a sentence for every state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from relay.contract import Expected, NotTested, NotTestedReason, Observation
from relay.errors import NotFoundError
from relay.runs.creation import cancel_run
from relay.runs.queries import events_after, last_event_id, list_runs, run_detail, run_summary
from relay.store.engine import Store
from relay.views import Conclusion, RunState, RunSummary, Verdict
from tests.relay.stories import Story, ended, planned, regressed, report_of

URL = "http://relay.test"
FILE = "test/test_demo_ops.py"
TESTS = [f"{FILE}::TestDemoOpsSPYRE::test_add__{number}" for number in range(6)]


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


@contextmanager
def counted_queries(store: Store) -> Iterator[list[str]]:
    """The statements the store sends inside the block."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(store.engine, "before_cursor_execute", note)
    yield seen
    event.remove(store.engine, "before_cursor_execute", note)


def summary(story: Story, run_id: int) -> RunSummary:
    with story.store.reading() as session:
        return run_summary(session, run_id, URL)


def test_every_step_of_a_run_has_a_sentence(story: Story) -> None:
    run = story.open()
    seen = [summary(story, run)]
    shard, lease, _ = story.lease()
    seen.append(summary(story, run))
    story.give(shard, lease, report_of([[planned(test) for test in TESTS]]))
    seen.append(summary(story, run))
    shard, lease, tests = story.lease()
    story.report(shard, lease, [regressed(tests[0], "boom"), ended(tests[1], Observation.PASSED)])
    seen.append(summary(story, run))
    assert [view.state for view in seen] == [
        *(RunState.RECEIVED, RunState.SELECTING),
        *(RunState.PLANNED, RunState.RUNNING),
    ]
    assert [view.headline for view in seen] == [
        "Waiting for a worker to choose tests",
        "Choosing the tests that this change can affect",
        "6 tests planned, waiting for a worker",
        "2 of 6 tests reported, 1 failing",
    ]
    assert seen[-1].verdicts == {Verdict.REGRESSION: 1, Verdict.OK: 1}


def test_a_finished_run_has_its_verdict_and_counts(story: Story) -> None:
    run = story.open()
    story.select(report_of([[planned(test) for test in TESTS]]))
    story.run_all({TESTS[2]: regressed(TESTS[2], "boom")})
    view = summary(story, run)
    assert (view.state, view.conclusion) == (RunState.FINISHED, Conclusion.FAILURE)
    assert (view.planned, view.reported, view.url) == (6, 6, f"{URL}/runs/{run}")
    assert list(view.verdicts) == [Verdict.REGRESSION, Verdict.OK]
    assert "1 regression" in view.headline
    assert view.started_at is not None
    assert view.finished_at is not None
    assert view.created_at < view.started_at < view.finished_at


def test_a_cancelled_run_says_why(story: Story) -> None:
    run = story.open()
    with story.store.writing() as session:
        cancel_run(session, run, story.tick(), "Pull request 7 was closed.")
    assert summary(story, run).headline == "Pull request 7 was closed."


def test_runs_are_paged_newest_first_and_filtered(story: Story) -> None:
    runs = [story.open(pr=number) for number in (1, 2, 3, 4, 5)]
    with story.store.reading() as session:
        first = list_runs(session, URL, limit=2)
        second = list_runs(session, URL, limit=2, before=first.next_before)
        third = list_runs(session, URL, limit=2, before=second.next_before)
        of_pr = list_runs(session, URL, limit=10, pr=2)
        none = list_runs(session, URL, limit=10, state=RunState.FINISHED)
    pages = [[view.id for view in page.runs] for page in (first, second, third)]
    assert pages == [[runs[4], runs[3]], [runs[2], runs[1]], [runs[0]]]
    assert third.next_before is None
    assert [view.id for view in of_pr.runs] == [runs[1]]
    assert none.runs == ()


def test_a_longer_list_takes_no_more_queries(story: Story) -> None:
    for number in range(1, 9):
        story.open(pr=number)
        story.select(report_of([[planned(test) for test in TESTS]]))
        story.run_all({})
    with story.store.reading() as session, counted_queries(story.store) as few:
        assert len(list_runs(session, URL, limit=2).runs) == 2
    with story.store.reading() as session, counted_queries(story.store) as many:
        assert len(list_runs(session, URL, limit=8).runs) == 8
    assert len(few) == len(many)


def test_the_detail_has_the_funnel_the_shards_and_what_was_left_out(story: Story) -> None:
    run = story.open()
    shards = [[planned(test) for test in TESTS[:4]], [planned(test, expected=Expected.XFAIL) for test in TESTS[4:]]]
    story.select(report_of(shards, notes=["the offline ranker was used"]))
    shard, lease, tests = story.lease()
    story.report(shard, lease, [ended(tests[0], Observation.PASSED)])
    with story.store.reading() as session:
        detail = run_detail(session, run, URL)
    assert [step.stage for step in detail.funnel] == [1, 2, 3, 4]
    assert [(view.kind, view.state, view.tests, view.reported) for view in detail.shards] == [
        *(("select", "done", 0, 0), ("test", "leased", 4, 1), ("test", "due", 2, 0)),
    ]
    assert detail.notes == ("the offline ranker was used",)
    assert (detail.kept, detail.dropped, detail.filtered) == (1, 0, 0)
    assert detail.changed_files[0].symbols == ("unravel_index",)


def test_a_run_that_was_not_tested_says_why(story: Story) -> None:
    run = story.open()
    story.select(report_of([], not_tested=NotTested(reason=NotTestedReason.NEEDS_BUILD, detail="Foo.cpp is compiled")))
    with story.store.reading() as session:
        detail = run_detail(session, run, URL)
    assert detail.run.conclusion is Conclusion.NEUTRAL
    assert detail.not_tested is not None
    assert detail.not_tested.detail == "Foo.cpp is compiled"


def test_events_resume_after_an_id_and_know_the_end(story: Story) -> None:
    run = story.open()
    with story.store.reading() as session:
        over, events = events_after(session, run, 0, limit=10)
    assert not over
    with story.store.writing() as session:
        cancel_run(session, run, story.tick(), "stop")
    with story.store.reading() as session:
        over, more = events_after(session, run, events[-1].id, limit=10)
        assert last_event_id(session, run) == more[-1].id
        assert events_after(session, run, more[-1].id, limit=10) == (True, ())
    assert over
    assert all(event.id > events[-1].id for event in more)
    assert more[-1].kind == "run.cancelled"


def test_a_run_that_ends_while_it_is_looked_at_is_over_with_its_last_event(story: Story) -> None:
    """On PostgreSQL, each statement sees what was committed before it: a stream that had the last event of a run that
    was not over waited for another one for ever."""
    run = story.open()
    ends = [True]
    with story.store.reading() as session:

        @event.listens_for(session.connection(), "after_cursor_execute")
        def end_meanwhile(*_: object) -> None:
            while ends:
                ends.pop()
                with story.store.writing() as other:
                    cancel_run(other, run, story.tick(), "stop")

        over, events = events_after(session, run, 0, limit=10)
    assert not ends
    assert over == ("run.cancelled" in [each.kind for each in events])


@pytest.mark.parametrize("run_id", [0, 1, -1, 2**31, 2**70])
def test_an_unknown_run_is_named(store: Store, run_id: int) -> None:
    with store.reading() as session, pytest.raises(NotFoundError, match=str(run_id)):
        run_summary(session, run_id, URL)
    with store.reading() as session:
        assert last_event_id(session, 1) == 0
