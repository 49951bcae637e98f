"""A test's history tells changes from the branch: what a change breaks is no failure of the branch."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from relay.contract import Attempt, Expected, Observation, TestResult, Tree
from relay.errors import NotFoundError
from relay.runs.creation import NewRun, open_run
from relay.runs.histories import find_tests, history_of, planned_as
from relay.store.engine import Store
from relay.store.models import Trigger
from relay.views import TestHistory, Verdict
from tests.relay.stories import (
    DEVICE,
    REPO,
    Story,
    attempt,
    ended,
    flaked,
    known,
    passed,
    planned,
    regressed,
    report_of,
)

TEST = "test/test_nn.py::TestNNSPYRE::test_linear__float32"
OTHER = "test/test_nn.py::TestNNSPYRE::test_100%_other"


def pushed(story: Story, sha: str, result: TestResult, *, expected: Expected = Expected.MANDATORY_SUCCESS) -> int:
    """A push to the branch whose run ends like this."""
    now = story.tick()
    new = NewRun(
        identity=f"push:{now.isoformat()}",
        repo=REPO,
        kind="push",
        base_sha="0" * 40,
        head_sha=sha * 40,
        device=DEVICE,
        trigger=Trigger.WEBHOOK,
        title=f"Commit {sha}",
        base_ref="refs/heads/main",
    )
    with story.store.writing() as session:
        run = open_run(session, new, now).id
    story.select(report_of([[planned(TEST, expected=expected), planned(OTHER)]]))
    story.run_all({TEST: result})
    return run


def pulled(story: Story, number: int, result: TestResult) -> int:
    """A pull request whose run ends like this."""
    run = story.open(pr=number)
    story.select(report_of([[planned(TEST), planned(OTHER)]]))
    story.run_all({TEST: result})
    return run


def history(store: Store, test: str = TEST, *, limit: int = 100, before: int | None = None) -> TestHistory:
    with store.reading() as session:
        return history_of(session, test, DEVICE, limit=limit, before=before)


def failed(test: str = TEST) -> TestResult:
    return ended(test, Observation.FAILED, "boom")


def on_both(head: Observation, *base: Observation) -> TestResult:
    tries: list[Attempt] = [attempt(head)]
    tries += [attempt(seen, tree=Tree.BASE, number=number) for number, seen in enumerate(base, start=1)]
    return TestResult(id=TEST, attempts=tuple(tries))


def test_what_a_change_broke_says_that_the_branch_is_fine(store: Store) -> None:
    story = Story(store)
    run = pulled(story, 7, regressed(TEST, "boom"))
    (outcome,) = history(store).outcomes
    assert (outcome.run_id, outcome.pr_number, outcome.verdict) == (run, 7, Verdict.REGRESSION)
    assert outcome.on_branch is True
    assert outcome.branch_sha == "2" * 40
    assert history(store).failing is None


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (passed(TEST), True),
        (known(TEST, "as before"), False),
        (flaked(TEST, "once"), None),
        (failed(), None),
        (on_both(Observation.PASSED, Observation.FAILED), False),
        (on_both(Observation.FAILED, Observation.FAILED, Observation.PASSED), None),
    ],
    ids=["ok", "fails on base too", "flaky", "base not looked at", "fixed", "base of two minds"],
)
def test_a_pull_request_tells_of_the_branch_by_its_base(store: Store, result: TestResult, told: bool | None) -> None:
    pulled(Story(store), 7, result)
    assert history(store).outcomes[0].on_branch is told


def test_a_failure_has_its_first_bad_and_last_good_commit(store: Store) -> None:
    """Runs between that say nothing neither end nor lengthen it; a change's own break does not begin it."""
    story = Story(store)
    pushed(story, "a", passed(TEST))
    good = pushed(story, "b", passed(TEST))
    pulled(story, 7, failed())
    bad = pushed(story, "c", failed())
    pushed(story, "d", flaked(TEST, "once"))
    pulled(story, 8, known(TEST, "as on the branch"))
    failing = history(store, limit=1).failing
    assert failing is not None
    assert failing.last_good is not None
    assert (failing.first_bad.run_id, failing.last_good.run_id, failing.outcomes) == (bad, good, 2)
    assert (failing.first_bad.branch_sha, failing.last_good.branch_sha) == ("c" * 40, "b" * 40)
    pushed(story, "e", passed(TEST))
    assert history(store).failing is None


def test_a_failure_without_a_good_run_says_so(store: Store) -> None:
    """An expected failure is one as well: it fails, whatever the manifest expects."""
    pushed(Story(store), "a", failed(), expected=Expected.XFAIL)
    failing = history(store).failing
    assert failing is not None
    assert failing.last_good is None


def test_history_is_paged_by_run_and_keeps_its_sums(store: Store) -> None:
    story = Story(store)
    runs = [pushed(story, sha, failed()) for sha in "abcde"]
    first = history(store, limit=2)
    assert [outcome.run_id for outcome in first.outcomes] == [runs[4], runs[3]]
    assert first.next_before == runs[3]
    last = history(store, limit=3, before=first.next_before)
    assert [outcome.run_id for outcome in last.outcomes] == [runs[2], runs[1], runs[0]]
    assert last.next_before is None
    assert last.failing == first.failing
    assert (first.flakes.disagreements, first.flakes.commits) == (0, 5)


def test_a_test_that_no_run_planned_is_not_found(store: Store) -> None:
    pushed(Story(store), "a", passed(TEST))
    with pytest.raises(NotFoundError, match="test_nobody"):
        history(store, "test/test_nn.py::TestNNSPYRE::test_nobody")
    with store.reading() as session:
        assert planned_as(session, "test_nobody", DEVICE) is None


def test_the_newest_plan_tells_of_the_test(store: Store) -> None:
    story = Story(store)
    pushed(story, "a", passed(TEST))
    run = pushed(story, "b", failed())
    with store.reading() as session:
        told = planned_as(session, TEST, DEVICE)
    assert told is not None
    assert (told.run_id, told.provenance, told.detail) == (run, "demo.yaml:12", "boom")


def test_tests_are_found_by_a_part_or_by_their_trouble(store: Store) -> None:
    """The signs of patterns stand for themselves, letter case does not matter, and each test is told once."""
    story = Story(store)
    pushed(story, "a", failed())
    run = pushed(story, "b", failed())

    def found(part: str) -> list[tuple[str, int]]:
        with store.reading() as session:
            return [(test.id, test.run_id) for test in find_tests(session, DEVICE, part, limit=10)]

    assert found("") == [(TEST, run)]
    assert found("TEST_LINEAR") == [(TEST, run)]
    assert found("100%") == [(OTHER, run)]
    assert found("%") == [(OTHER, run)]
    assert found("nothing") == []


def test_a_longer_history_takes_no_more_queries(store: Store) -> None:
    story = Story(store)
    counts = []
    for more in (1, 5):
        for _ in range(more):
            pulled(story, 7, regressed(TEST, "boom"))
        seen: list[str] = []

        def note(_c: object, _u: object, statement: str, *_: object, seen: list[str] = seen) -> None:
            seen.append(statement)

        event.listen(store.engine, "before_cursor_execute", note)
        history(store)
        event.remove(store.engine, "before_cursor_execute", note)
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 4
