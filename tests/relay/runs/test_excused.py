"""Of tests that a manifest excuses, those that passed lately are found with all their attempts."""

from __future__ import annotations

import pytest

from relay.contract import Attempt, Expected, Observation, TestResult, Tree
from relay.runs.excused import ExcusedAttempt, excused_attempts
from relay.store.engine import Store
from tests.relay.runs.test_queries import counted_queries
from tests.relay.stories import DEVICE, Story, base_of, ended, passed, planned, report_of

PASSES, FAILS, REQUIRED = (f"test/test_ops.py::TestOpsSPYRE::test_{name}__float32" for name in ("a", "b", "c"))


def run(story: Story, *results: TestResult, pr: int = 7) -> int:
    """A finished run in which the first two tests are excused."""
    run_id = story.open(pr=pr)
    tests = [planned(test, expected=Expected.XFAIL) for test in (PASSES, FAILS)]
    story.select(report_of([[*tests, planned(REQUIRED)]]))
    story.run_all({FAILS: ended(FAILS, Observation.FAILED), **{result.id: result for result in results}})
    return run_id


def found(store: Store, device: str = DEVICE) -> list[ExcusedAttempt]:
    with store.reading() as session:
        return list(excused_attempts(session, device))


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


def test_what_is_excused_and_passed_once_is_told_of_every_run(story: Story) -> None:
    first = run(story, ended(PASSES, Observation.FAILED), pr=1)
    second = run(story, passed(PASSES), pr=2)
    attempts = found(story.store)
    assert [(one.test_id, one.run_id, one.observation) for one in attempts] == [
        (PASSES, first, Observation.FAILED),
        (PASSES, second, Observation.PASSED),
    ]
    assert (attempts[0].base, attempts[0].file, attempts[0].machine) == (
        base_of(PASSES),
        "test/test_ops.py",
        "worker-1",
    )
    assert attempts[0].at < attempts[1].at


def test_what_ran_on_base_too_is_read_from_there(story: Story) -> None:
    """The change may be why it fails, or passes, on head."""
    tries = (
        Attempt(tree=Tree.HEAD, number=1, observation=Observation.PASSED, duration_s=0.1),
        Attempt(tree=Tree.BASE, number=1, observation=Observation.FAILED, duration_s=0.1),
    )
    run(story, TestResult(id=PASSES, attempts=tries))
    assert [one.observation for one in found(story.store)] == [Observation.FAILED]


def test_runs_of_other_devices_and_unfinished_ones_say_nothing(story: Story) -> None:
    run(story, passed(PASSES))
    assert found(story.store, "another") == []
    story.open(pr=8)
    assert len(found(story.store)) == 1


def test_more_runs_take_no_more_queries(story: Story) -> None:
    counts = []
    for pr in range(1, 5):
        run(story, passed(PASSES), pr=pr)
        with counted_queries(story.store) as seen:
            assert len(found(story.store)) == pr
        counts.append(len(seen))
    assert len(set(counts)) == 1
    assert counts[0] <= 4  # SQLite's BEGIN is one of them
