"""What workers report: idempotent, checked, and with exactly one verdict a test."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from relay.contract import Expected, NotTested, NotTestedReason, Observation, ShardOutcome, TestResult, Tree
from relay.errors import BadMessageError, ConflictError, LeaseLostError
from relay.store.engine import Store
from relay.store.models import PlannedTest, Selection, TestAttempt
from relay.views import Conclusion, RunState, Verdict
from tests.relay.worker_story import (
    arrive,
    arrive_and_plan,
    attempt,
    end,
    get_run,
    lease,
    must_lease,
    names,
    passes,
    post_results,
    post_selection,
    report,
    result,
    results,
    verdicts,
)


def test_a_selection_becomes_a_plan(store: Store) -> None:
    """Tests, shards, documents and the run's facts are there, and workers can go on."""
    a, b, c = names(3)
    run_id = arrive_and_plan(store, [[a, b], [c]])
    run = get_run(store, run_id)
    assert (run.state, run.selection_state) == (RunState.PLANNED, "selected")
    with store.reading() as session:
        test = session.scalars(select(PlannedTest).order_by(PlannedTest.id)).first()
        documents = session.get_one(Selection, run_id)
    assert test is not None
    assert (test.test_id, test.rule, test.provenance, test.tags) == (a, "listed", "ops.yaml:3", ["smoke"])
    assert (documents.kept, documents.dropped, documents.notes) == (1, 1, ["offline ranker"])
    assert documents.decisions[0]["reasons"][0]["rule"] == "edited-test"


def test_a_selection_posted_twice_counts_once(store: Store) -> None:
    """The repeat is answered alike; another selection under the same lease is a conflict."""
    run_id = arrive(store)
    leased = must_lease(store)
    for _ in range(2):
        post_selection(store, leased, report([names(2)]))
    assert len(verdicts(store, run_id)) == 2
    with pytest.raises(ConflictError):
        post_selection(store, leased, report([names(1)]))
    end(store, leased)
    assert get_run(store, run_id).state is RunState.PLANNED


def test_nothing_to_run_ends_the_run_neutral(store: Store) -> None:
    """An empty plan is an answer."""
    run_id = arrive_and_plan(store, [])
    run = get_run(store, run_id)
    assert (run.state, run.conclusion) == (RunState.FINISHED, Conclusion.NEUTRAL)
    assert lease(store) is None


def test_not_tested_ends_the_run_neutral_with_the_reason(store: Store) -> None:
    """The reason is kept for readers."""
    run_id = arrive(store)
    reason = NotTested(reason=NotTestedReason.NEEDS_BUILD, detail="aten/ changed")
    post_selection(store, must_lease(store), report([], not_tested=reason))
    run = get_run(store, run_id)
    assert (run.state, run.conclusion) == (RunState.FINISHED, Conclusion.NEUTRAL)
    assert run.not_tested == {"reason": "needs_build", "detail": "aten/ changed"}
    assert run.headline == "Not tested: the change needs a build."


@pytest.mark.parametrize(
    "shards",
    [[["a"], ["a"]], [["a"], []], [["a\x00"]], [["\U0001f600" * 600]]],
    ids=["twice", "empty shard", "nul", "too long"],
)
def test_a_plan_that_does_not_fit_together_is_refused(store: Store, shards: list[list[str]]) -> None:
    """And nothing of it is kept: the worker still has its lease."""
    run_id = arrive(store)
    leased = must_lease(store)
    with pytest.raises(BadMessageError):
        post_selection(store, leased, report(shards))
    assert get_run(store, run_id).state is RunState.SELECTING
    post_selection(store, leased, report([names(1)]))


def test_a_plan_whose_shards_forget_a_test_is_refused(store: Store) -> None:
    """Planned and sharded are the same tests."""
    arrive(store)
    full = report([names(2)])
    short = full.model_copy(update={"shards": (full.shards[0][:1],)})
    with pytest.raises(BadMessageError):
        post_selection(store, must_lease(store), short)


def test_results_give_verdicts_and_the_run_its_conclusion(store: Store) -> None:
    """The whole story of a regression."""
    a, b = names(2)
    run_id = arrive_and_plan(store, [[a, b]])
    leased = must_lease(store)
    broken = TestResult(
        id=a,
        attempts=(
            attempt(Observation.FAILED, detail="first"),
            attempt(Observation.FAILED, number=2, detail="AssertionError: 1 != 2"),
            attempt(Observation.PASSED, tree=Tree.BASE),
        ),
    )
    post_results(store, leased, results(leased, [broken]))
    post_results(store, leased, results(leased, [result(b, Observation.PASSED)], sequence=2))
    end(store, leased)
    run = get_run(store, run_id)
    assert (run.state, run.conclusion) == (RunState.FINISHED, Conclusion.FAILURE)
    assert verdicts(store, run_id) == {a: Verdict.REGRESSION, b: Verdict.OK}
    with store.reading() as session:
        test = session.scalars(select(PlannedTest).where(PlannedTest.test_id == a)).one()
        assert (test.detail, test.observation) == ("AssertionError: 1 != 2", Observation.FAILED)
        assert session.scalar(select(func.count()).select_from(TestAttempt)) == 4


def test_a_batch_posted_twice_counts_once(store: Store) -> None:
    """The same sequence with the same content is a repeat, with other content a conflict."""
    arrive_and_plan(store, [names(2)])
    leased = must_lease(store)
    for _ in range(2):
        post_results(store, leased, passes(leased))
    with pytest.raises(ConflictError, match="other content"):
        post_results(store, leased, results(leased, [result(names(1)[0], Observation.FAILED)]))


def test_a_repeat_after_the_goodbye_is_answered_alike(store: Store) -> None:
    """The answer got lost, not the message: results and goodbye may come again after the run has ended."""
    run_id = arrive_and_plan(store, [names(1)])
    leased = must_lease(store)
    for _ in range(2):
        post_results(store, leased, passes(leased))
        end(store, leased)
    assert get_run(store, run_id).state is RunState.FINISHED
    with pytest.raises(LeaseLostError):
        post_results(store, leased, passes(leased, sequence=2))


def test_the_first_verdict_stays(store: Store) -> None:
    """A later report of the same test changes nothing."""
    (name,) = names(1)
    run_id = arrive_and_plan(store, [[name]])
    leased = must_lease(store)
    post_results(store, leased, passes(leased))
    post_results(store, leased, results(leased, [result(name, Observation.FAILED)], sequence=2))
    assert verdicts(store, run_id) == {name: Verdict.OK}


def test_senseless_results_are_refused_whole(store: Store) -> None:
    """Unknown tests, a test twice, attempts that cannot be told apart: nothing of the batch is kept."""
    a, b = names(2)
    run_id = arrive_and_plan(store, [[a], [b]])
    leased = must_lease(store)
    fine = result(a, Observation.PASSED)
    twins = TestResult(id=a, attempts=(attempt(Observation.PASSED), attempt(Observation.FAILED)))
    baseless = TestResult(id=a, attempts=(attempt(Observation.PASSED, tree=Tree.BASE),))
    for batch in ([fine, result(b, Observation.PASSED)], [fine, fine], [twins], [baseless]):
        with pytest.raises(BadMessageError):
            post_results(store, leased, results(leased, batch))
    assert set(verdicts(store, run_id).values()) == {None}
    post_results(store, leased, results(leased, [fine]))


def test_reports_for_the_wrong_kind_of_shard_are_refused(store: Store) -> None:
    """A select shard takes no results, a test shard no selection."""
    arrive(store)
    selecting = must_lease(store)
    with pytest.raises(BadMessageError):
        post_results(store, selecting, results(selecting, [result("x", Observation.PASSED)]))
    post_selection(store, selecting, report([names(1)]))
    with pytest.raises(BadMessageError):
        post_selection(store, must_lease(store), report([names(1)]))


def test_done_is_believed_only_when_everything_is_reported(store: Store) -> None:
    """A shard with unreported tests is due again, and its worker knows no better in the end: infra."""
    (name,) = names(1)
    run_id = arrive_and_plan(store, [[name]])
    for number in range(3):
        leased = must_lease(store)
        assert leased.shard.attempt == number + 1
        end(store, leased)
    assert verdicts(store, run_id) == {name: Verdict.INFRA}
    assert get_run(store, run_id).conclusion is Conclusion.NEUTRAL


def test_done_without_a_selection_is_not_done(store: Store) -> None:
    """The select shard is due again."""
    run_id = arrive(store)
    end(store, must_lease(store))
    assert must_lease(store).shard.attempt == 2
    assert get_run(store, run_id).state is RunState.SELECTING


def test_a_failed_shard_keeps_what_was_reported(store: Store) -> None:
    """Only the rest is run again, and the error is shown meanwhile."""
    a, b = names(2)
    run_id = arrive_and_plan(store, [[a, b]])
    leased = must_lease(store)
    post_results(store, leased, results(leased, [result(a, Observation.PASSED)]))
    end(store, leased, ShardOutcome.FAILED, error="disk full")
    again = must_lease(store)
    assert [test.test_id for test in again.tests] == [b]
    post_results(store, again, passes(again))
    end(store, again)
    assert get_run(store, run_id).conclusion is Conclusion.SUCCESS


@pytest.mark.parametrize(
    ("expected", "conclusion"),
    [
        (Expected.MANDATORY_SUCCESS, Conclusion.SUCCESS),
        (Expected.XFAIL, Conclusion.SUCCESS),
        (Expected.XFAIL_STRICT, Conclusion.FAILURE),
    ],
)
def test_a_pass_is_judged_by_the_expectation(store: Store, expected: Expected, conclusion: Conclusion) -> None:
    """A strict expected failure that passes fails the run."""
    run_id = arrive(store)
    post_selection(store, must_lease(store), report([names(1)], expected=expected))
    leased = must_lease(store)
    post_results(store, leased, passes(leased))
    end(store, leased)
    assert get_run(store, run_id).conclusion is conclusion
