"""A streak is the newest runs that did the same, and evidence is what its weakest variant has to show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from selector.manifests.authoring.results import Observation, ObservedTest
from selector.manifests.authoring.streaks import Policy, evidence, failing, passing, runs_by_test
from selector.types import CollectedTest

TEST = CollectedTest("test/test_a.py::TSPYRE::test_x", "test/test_a.py", "T", "test_x", "test_x")
START = datetime(2026, 8, 1, 22, tzinfo=UTC)
PASSED, FAILED = Observation.PASSED, Observation.FAILED


def seen(observation: Observation, hours: float = 0, run: str = "r", machine: str = "lab") -> ObservedTest:
    return ObservedTest(TEST, observation, run, START + timedelta(hours=hours), machine)


def test_attempts_of_one_run_count_once_and_runs_are_newest_first() -> None:
    runs = runs_by_test([seen(PASSED, 0), seen(PASSED, 0), seen(PASSED, 5, "s"), seen(Observation.SKIPPED, 9, "t")])
    assert [run.at - START for run in runs[TEST.id]] == [timedelta(hours=5), timedelta(0)]


def test_a_run_with_both_is_part_of_no_streak() -> None:
    runs = runs_by_test([seen(PASSED), seen(FAILED)])[TEST.id]
    assert (passing(runs).runs, failing(runs).runs) == ((), ())


def test_only_the_newest_runs_make_a_streak() -> None:
    runs = runs_by_test([seen(FAILED, 0, "a"), seen(PASSED, 1, "b"), seen(PASSED, 2, "c")])[TEST.id]
    assert (len(passing(runs).runs), failing(runs).runs) == (2, ())


def test_days_are_days_in_utc_and_a_machine_without_name_is_none() -> None:
    runs = runs_by_test([seen(PASSED, 0, "a", ""), seen(PASSED, 1, "b"), seen(PASSED, 3, "c")])[TEST.id]
    streak = passing(runs)
    assert (streak.days, streak.machines) == (2, frozenset({"lab"}))
    assert streak.lacks(Policy(runs=4, days=2, machines=2)) == "3 of 4 runs, 1 of 2 machines"
    assert streak.lacks(Policy(runs=3, days=2, machines=1)) == ""


def test_the_weakest_variant_speaks_for_all() -> None:
    strong = passing(runs_by_test([seen(PASSED, 30 * day, str(day), f"lab{day}") for day in range(4)])[TEST.id])
    weak = passing(runs_by_test([seen(PASSED)])[TEST.id])
    assert str(evidence([strong, weak])) == ("2 variants, 1 run on 1 day (2026-08-01 to 2026-08-05), machines: lab")
