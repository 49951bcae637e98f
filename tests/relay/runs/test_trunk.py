"""The trunk's commits come in the order of their pushes, with the newest answer of every run, in a fixed number of
queries."""

from __future__ import annotations

import pytest

from relay.runs.creation import NewRun, open_run, rerun
from relay.runs.trunk import AUDIT, SELECTED, pushed_commits, results_on
from relay.store.engine import Store
from relay.store.models import Trigger
from relay.trunk_views import Outcome
from tests.relay.runs.test_queries import counted_queries
from tests.relay.stories import DEVICE, REPO, Story, planned, regressed, report_of

URL = "http://relay.test"
TEST = "test/test_ops.py::TestOpsSPYRE::test_add__float32"


def push(story: Story, number: int, *, title: str = "", trigger: Trigger = Trigger.WEBHOOK) -> int:
    """A push to the branch, after the one before."""
    now = story.tick()
    new = NewRun(
        identity=f"{trigger}:{number}:{now.isoformat()}",
        repo=REPO,
        kind="push",
        base_sha=f"{number - 1:040}",
        head_sha=f"{number:040}",
        device=DEVICE,
        trigger=trigger,
        title=title or f"commit {number}",
    )
    with story.store.writing() as session:
        return open_run(session, new, now).id


def end(story: Story, *, broken: bool = False) -> None:
    """The newest run does one test."""
    story.select(report_of([[planned(TEST)]]))
    story.run_all({TEST: regressed(TEST, "boom")} if broken else {})


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


def test_pushes_come_newest_first_in_windows_and_pull_requests_do_not(story: Story) -> None:
    keys = [push(story, number) for number in range(1, 6)]
    story.open(pr=9)
    with story.store.reading() as session:
        first, before = pushed_commits(session, REPO.upper(), limit=3)
        rest, after = pushed_commits(session, REPO, limit=3, before=before)
    assert [commit.key for commit in (*first, *rest)] == keys[::-1]
    assert (first[0].sha, first[0].title, before, after) == (f"{5:040}", "commit 5", keys[2], None)


def test_a_commit_that_is_pushed_again_keeps_its_place(story: Story) -> None:
    """It stands once, where it was pushed first."""
    keys = [push(story, 1), push(story, 2), push(story, 1)]
    with story.store.reading() as session:
        found, _ = pushed_commits(session, REPO, limit=10)
    assert [commit.key for commit in found] == [keys[1], keys[0]]


def test_other_repositories_have_a_trunk_of_their_own(story: Story) -> None:
    push(story, 1)
    with story.store.reading() as session:
        assert pushed_commits(session, "another/repository", limit=10) == ((), None)
        assert results_on(session, "another/repository", [f"{1:040}"], URL) == {}


def test_the_newest_run_of_a_commit_answers_for_it(story: Story) -> None:
    """A rerun counts as another attempt; an audit of the same commit stands beside it."""
    first = push(story, 1)
    end(story, broken=True)
    with story.store.reading() as session:
        (seen,) = results_on(session, REPO, [f"{1:040}"], URL)[f"{1:040}"]
    assert (seen.outcome, seen.broken, seen.attempts, seen.run_id) == (Outcome.FAILED, 1, 1, first)
    with story.store.writing() as session:
        again = rerun(session, first, story.tick(), failed_only=False).id
    end(story)
    audit = push(story, 1, trigger=Trigger.AUDIT)
    with story.store.reading() as session:
        found = {result.job.name: result for result in results_on(session, REPO, [f"{1:040}"], URL)[f"{1:040}"]}
    assert (found[SELECTED].outcome, found[SELECTED].broken, found[SELECTED].attempts) == (Outcome.PASSED, 0, 2)
    assert (found[SELECTED].url, found[AUDIT].outcome) == (f"{URL}/runs/{again}", Outcome.RUNNING)
    assert found[AUDIT].run_id == audit


def test_runs_that_only_ask_who_missed_a_test_are_no_answer(story: Story) -> None:
    push(story, 1, trigger=Trigger.CONFIRM)
    with story.store.reading() as session:
        assert results_on(session, REPO, [f"{1:040}"], URL) == {}


def test_more_commits_take_no_more_queries(story: Story) -> None:
    for number in range(1, 9):
        push(story, number)
        end(story, broken=number % 2 == 0)
    counts = []
    for limit in (1, 8):
        with counted_queries(story.store) as seen, story.store.reading() as session:
            found, _ = pushed_commits(session, REPO, limit=limit)
            results = results_on(session, REPO, [commit.sha for commit in found], URL)
        assert len(results) == limit
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 4  # SQLite's BEGIN is one of them
