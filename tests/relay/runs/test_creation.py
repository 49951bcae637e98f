"""How runs begin and are called off."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from relay.contract import Observation
from relay.errors import ConflictError, NotFoundError
from relay.runs.creation import RERUN_VERDICTS, cancel_pull_request, cancel_run, open_run, rerun
from relay.store.engine import Store
from relay.store.models import Run, Shard, Trigger
from relay.views import RunState, Verdict
from tests.relay.worker_story import (
    NOW,
    arrive,
    arrive_and_plan,
    end,
    get_run,
    later,
    must_lease,
    names,
    new_run,
    passes,
    post_results,
    result,
    results,
)


def _count(store: Store, table: type[Run] | type[Shard]) -> int:
    with store.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def _rerun(store: Store, run_id: int, *, failed_only: bool) -> Run:
    with store.writing() as session:
        return rerun(session, run_id, later(100), failed_only=failed_only)


def _finished(store: Store, *seen: Observation) -> int:
    run_id = arrive_and_plan(store, [names(len(seen))])
    leased = must_lease(store)
    done = [result(test.test_id, observation) for test, observation in zip(leased.tests, seen, strict=True)]
    post_results(store, leased, results(leased, done))
    end(store, leased)
    return run_id


def test_asking_twice_under_one_identity_opens_one_run(store: Store) -> None:
    """A redelivery makes no second run and no second shard."""
    new = new_run("delivery:1")
    assert arrive(store, new) == arrive(store, new)
    assert (_count(store, Run), _count(store, Shard)) == (1, 1)


def test_twins_that_arrive_at_once_open_one_run(store: Store) -> None:
    """Eight transactions with the same identity agree on one run."""
    new = new_run("delivery:1")
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: arrive(store, new), range(8)))
    assert len(ids) == 1
    assert (_count(store, Run), _count(store, Shard)) == (1, 1)


def test_a_new_push_supersedes_the_older_runs_of_its_pull_request(store: Store) -> None:
    """Only unfinished ones, only of this pull request, and never a newer one."""
    finished = _finished(store, Observation.PASSED)
    older = arrive(store)
    other = arrive(store, new_run(pr_number=8))
    newest = arrive(store)
    assert get_run(store, finished).state is RunState.FINISHED
    assert get_run(store, older).state is RunState.CANCELLED
    assert str(newest) in get_run(store, older).headline
    assert get_run(store, other).state is RunState.RECEIVED
    assert get_run(store, newest).state is RunState.RECEIVED


def test_a_rerun_supersedes_nothing(store: Store) -> None:
    """Somebody who looks at an old result again does not call off the newest push."""
    old = _finished(store, Observation.PASSED)
    newest = arrive(store)
    _rerun(store, old, failed_only=False)
    assert get_run(store, newest).state is RunState.RECEIVED


def test_cancelling_twice_is_no_error(store: Store) -> None:
    """The first reason stays; a finished run stays finished."""
    run_id = arrive(store)
    for reason in ("first", "second"):
        with store.writing() as session:
            assert cancel_run(session, run_id, NOW, reason).headline == "first"
    done = _finished(store, Observation.PASSED)
    with store.writing() as session:
        assert cancel_run(session, done, NOW, "late").state is RunState.FINISHED


def test_a_closed_pull_request_takes_its_runs_along(store: Store) -> None:
    """GitHub's repository names differ in case and are still the same."""
    run_id = arrive(store)
    with store.writing() as session:
        assert cancel_pull_request(session, "PyTorch/pytorch", 7, NOW, reason="Closed.") == (run_id,)
    assert get_run(store, run_id).headline == "Closed."


def test_a_rerun_is_the_same_change_with_the_next_attempt(store: Store) -> None:
    """Attempts count over all runs of the change, whichever of them is run again."""
    first = _finished(store, Observation.PASSED)
    second = _rerun(store, first, failed_only=False)
    assert (second.attempt, second.rerun_of, second.trigger, second.only) == (2, first, Trigger.RERUN, [])
    with store.writing() as session:
        cancel_run(session, second.id, later(200), "enough")
    third = _rerun(store, first, failed_only=False)
    assert (third.attempt, third.rerun_of) == (3, first)
    assert (third.head_sha, third.title) == (second.head_sha, second.title)


def test_who_asks_again_for_what_is_under_way_gets_that(store: Store) -> None:
    """Two who press at once, too; in other words it is another run."""
    run_id = _finished(store, Observation.FAILED)
    with ThreadPoolExecutor(4) as pool:
        pressed = list(pool.map(lambda _: _rerun(store, run_id, failed_only=True).id, range(8)))
    assert len(set(pressed)) == 1
    assert _rerun(store, run_id, failed_only=False).id not in pressed
    assert _count(store, Run) == 3


def test_a_rerun_of_the_failed_tests_names_them(store: Store) -> None:
    """Everything a second look could change, and nothing else."""
    run_id = _finished(store, *Observation)
    again = _rerun(store, run_id, failed_only=True)
    seen = dict(zip(Observation, names(len(Observation)), strict=True))
    assert again.only == [
        name for observation, name in seen.items() if observation not in {Observation.PASSED, Observation.SKIPPED}
    ]


def test_a_rerun_of_named_tests_is_of_these(store: Store) -> None:
    """In the order of the plan, each once, whatever came of them."""
    run_id = _finished(store, Observation.PASSED, Observation.FAILED, Observation.PASSED)
    first, _, third = names(3)
    with store.writing() as session:
        again = rerun(session, run_id, later(100), failed_only=False, tests=[third, first, third])
    assert again.only == [first, third]


def test_a_test_that_was_not_planned_cannot_be_repeated(store: Store) -> None:
    """It is named, and nothing is opened; NUL is no test's name, on no database."""
    run_id = _finished(store, Observation.PASSED)
    with pytest.raises(ConflictError, match=r"did not plan a\.py::T::x \(and 1 more\)") as caught, store.writing() as s:
        rerun(s, run_id, later(100), failed_only=False, tests=[*names(1), "a.py::T::x", "\0"])
    assert (caught.value.code, _count(store, Run)) == ("not_planned", 1)


@pytest.mark.parametrize(("failed", "full"), [(True, ""), (False, "because")])
def test_named_tests_and_more_is_a_contradiction(store: Store, failed: bool, full: str) -> None:
    """Asked for at once, neither is done."""
    run_id = _finished(store, Observation.FAILED)
    with pytest.raises(ConflictError, match="Tests are named"), store.writing() as session:
        rerun(session, run_id, later(100), failed_only=failed, full=full, tests=names(1))


def test_rerunning_everything_of_a_limited_run_keeps_the_limit(store: Store) -> None:
    """`everything` is what that run was about."""
    run_id = _finished(store, Observation.FAILED, Observation.PASSED)
    limited = _rerun(store, run_id, failed_only=True)
    with store.writing() as session:
        cancel_run(session, limited.id, NOW, "enough")
    assert _rerun(store, limited.id, failed_only=False).only == limited.only


def test_a_run_without_a_failed_test_has_nothing_to_repeat(store: Store) -> None:
    """The hint says what to do instead."""
    run_id = _finished(store, Observation.PASSED)
    with pytest.raises(ConflictError, match="no failed test") as caught:
        _rerun(store, run_id, failed_only=True)
    assert "relay run rerun" in caught.value.hint


def test_an_unfinished_run_cannot_be_run_again(store: Store) -> None:
    """The hint says how to wait for it or how to cancel it."""
    run_id = arrive_and_plan(store, [names(1)])
    with pytest.raises(ConflictError, match="not finished") as caught:
        _rerun(store, run_id, failed_only=False)
    assert "relay run cancel" in caught.value.hint
    leased = must_lease(store)
    post_results(store, leased, passes(leased))
    end(store, leased)
    assert _rerun(store, run_id, failed_only=False).attempt == 2


def test_a_run_that_is_not_there(store: Store) -> None:
    """Not found, whatever is asked of it."""
    with pytest.raises(NotFoundError), store.writing() as session:
        cancel_run(session, 99, NOW, "why")
    with pytest.raises(NotFoundError):
        _rerun(store, 99, failed_only=True)


def test_good_ends_are_never_repeated() -> None:
    """The list of what is repeated is complete: all but these."""
    calm = {Verdict.OK, Verdict.KNOWN_FAILURE, Verdict.FIXED, Verdict.XPASS, Verdict.UNSUPPORTED}
    assert set(Verdict) - RERUN_VERDICTS == calm


def test_opening_belongs_to_the_callers_transaction(store: Store) -> None:
    """When the caller fails, there is no run."""

    def fail() -> None:
        with store.writing() as session:
            open_run(session, new_run(), NOW)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (_count(store, Run), _count(store, Shard)) == (0, 0)
