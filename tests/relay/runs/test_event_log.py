"""What happens to runs is in the log too, with the ids to look for, once it has really happened."""

from __future__ import annotations

import pytest
import structlog
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from relay.runs.states import StaleTransitionError, note
from relay.store.engine import Store
from tests.relay.stories import Story, passed, planned, report_of

TESTS = ["test/test_demo.py::TestDemoSPYRE::test_one"]


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


def test_every_step_of_a_run_is_logged_with_its_ids(story: Story) -> None:
    """In the order in which it happened; what comes many times for each run is for --verbose."""
    with capture_logs() as logged:
        run = story.open()
        story.select(report_of([[planned(test) for test in TESTS]]))
        story.run_all({TESTS[0]: passed(TESTS[0])})
    steps = [(line["event"], line.get("shard")) for line in logged if line["log_level"] == "info"]
    first, second = sorted({shard for _, shard in steps if shard})
    assert steps == [
        ("run.received", None),
        ("shard.leased", first),
        ("run.selecting", None),
        ("run.planned", None),
        ("shard.done", first),
        ("shard.leased", second),
        ("run.running", None),
        ("shard.done", second),
        ("run.finished", None),
    ]
    assert {line["run"] for line in logged} == {run}


def note_and_fail(session: Session, run: int, story: Story) -> None:
    note(session, run, story.tick(), "run.never", "it did not happen")
    raise StaleTransitionError


def test_what_was_rolled_back_is_not_logged(story: Story, store: Store) -> None:
    """Nor later, by the same session."""
    run = story.open()
    with capture_logs() as logged:
        with pytest.raises(StaleTransitionError), store.writing() as session:
            note_and_fail(session, run, story)
        with Session(store.engine) as session:
            note(session, run, story.tick(), "run.never", "it did not happen")
            session.rollback()
            note(session, run, story.tick(), "run.once", "it did")
            session.commit()
            session.commit()
    assert [line["event"] for line in logged] == ["run.once"]


def test_ids_that_are_bound_come_along_and_text_cannot_act_on_a_terminal(story: Story, store: Store) -> None:
    """Though the transaction ends when they are not bound any more."""
    run = story.open()
    bound = structlog.contextvars.bound_contextvars(delivery="guid")
    with capture_logs() as logged, store.writing() as session, bound:
        note(session, run, story.tick(), "run.odd", "a\x1b[2Jtitle\nfrom upstream")
    assert logged == [
        {"event": "run.odd", "log_level": "info", "run": run, "delivery": "guid", "text": "a [2Jtitle from upstream"}
    ]
