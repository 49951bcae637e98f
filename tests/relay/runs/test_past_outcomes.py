"""How tests ended before, as the record tells it: in the last version of a pull request, and when a file changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from relay.contract import BrokenWith, ChangedFile, FailedLast, Observation, PastAsked, TestResult
from relay.runs.past_outcomes import DAYS, MOST_BROKEN, failed_last, failed_with
from relay.store.engine import Store
from relay.store.models import Trigger
from tests.relay.worker_story import (
    DEVICE,
    NOW,
    arrive,
    end,
    get_run,
    must_lease,
    names,
    new_run,
    post_results,
    post_selection,
    report,
    result,
    results,
)

TEST = "test/test_ops.py::TestOps::test_add"
A, B = "torch/a.py", "torch/b.py"
OLD, NEW, NEXT = "1" * 40, "2" * 40, "3" * 40
ASKED = PastAsked(device=DEVICE, repo="PyTorch/pytorch", pr_number=7, head_sha=NEXT)


def broke(name: str) -> TestResult:
    return result(name, Observation.FAILED, Observation.FAILED, base=Observation.PASSED)


def ran(
    store: Store,
    head: str,
    *paths: str,
    pr: int | None = 7,
    done: TestResult | None = None,
    trigger: Trigger = Trigger.WEBHOOK,
    ended: bool = True,
    tests: int = 1,
) -> int:
    """A change ran, and broke its tests unless `done` says otherwise."""
    run_id = arrive(store, replace(new_run(pr_number=pr, trigger=trigger), head_sha=head))
    changed = tuple(ChangedFile(path=path, status="modified", category="python source") for path in paths)
    post_selection(store, must_lease(store), report([names(tests)]).model_copy(update={"changed_files": changed}))
    leased = must_lease(store)
    post_results(store, leased, results(leased, [done or broke(test.test_id) for test in leased.tests]))
    if ended:
        end(store, leased)
    return run_id


def last(store: Store, asked: PastAsked = ASKED) -> tuple[FailedLast, ...]:
    with store.reading() as session:
        return failed_last(session, asked)


def with_paths(store: Store, *paths: str, days: int = 1) -> dict[tuple[str, str], float]:
    with store.reading() as session:
        found = failed_with(session, DEVICE, paths, NOW + timedelta(days=days))
    assert list(found) == sorted(found, key=lambda it: (it.path, it.test))
    assert all(isinstance(it, BrokenWith) for it in found)
    return {(it.path, it.test): it.strength for it in found}


def test_what_the_newest_other_version_of_the_pull_request_broke_failed_last(store: Store) -> None:
    """One that has not ended says nothing yet."""
    run_id = ran(store, OLD, A)
    ran(store, NEXT, A)
    ran(store, NEW, A, pr=8)
    ran(store, NEW, A, ended=False)
    told = last(store)
    assert [(it.test, f"run {run_id}" in it.evidence, OLD[:10] in it.evidence) for it in told] == [(TEST, True, True)]
    assert last(store, ASKED.model_copy(update={"device": "other"})) == ()
    assert last(store, ASKED.model_copy(update={"pr_number": None})) == ()


def test_what_was_repaired_since_did_not_fail_last(store: Store) -> None:
    ran(store, OLD, A)
    ran(store, NEW, A, done=result(names(1)[0], Observation.PASSED))
    assert last(store) == ()


@pytest.mark.parametrize(
    "done",
    [
        result(names(1)[0], Observation.FAILED, Observation.PASSED),
        result(names(1)[0], Observation.FAILED, base=Observation.FAILED),
        result(names(1)[0], Observation.FAILED),
    ],
    ids=["flaky", "known", "base not asked"],
)
def test_what_is_no_evidence_against_the_change_does_not_count(store: Store, done: TestResult) -> None:
    ran(store, OLD, A, done=done)
    assert (last(store), with_paths(store, A)) == ((), {})


def test_each_change_counts_by_its_share_and_a_pull_request_once(store: Store) -> None:
    """The versions of one pull request broke it together, by the version that changed the fewest files."""
    ran(store, OLD, A, B, pr=7)
    ran(store, NEW, A, pr=7)
    ran(store, OLD, A, B, "torch/c.py", "torch/d.py", pr=8)
    ran(store, NEXT, A, B, pr=None)
    ran(store, NEXT, A, pr=9, trigger=Trigger.AUDIT)
    assert with_paths(store, A, B, "torch/unchanged.py") == {(A, TEST): 1.75, (B, TEST): 1.25}
    assert with_paths(store) == {}


def test_what_is_long_past_is_forgotten(store: Store) -> None:
    created = get_run(store, ran(store, OLD, A)).created_at
    days = (created - NOW).days + DAYS
    assert with_paths(store, A, days=days) == {(A, TEST): 1.0}
    assert with_paths(store, A, days=days + 1) == {}


def test_a_change_that_broke_everything_says_nothing(store: Store) -> None:
    ran(store, OLD, A, tests=MOST_BROKEN + 1)
    assert with_paths(store, A) == {}
