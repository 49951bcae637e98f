"""How long a run will take is drawn from its plan, else from runs of its kind, else from any run of the device."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from relay.now_views import ExpectedBy
from relay.runs.creation import cancel_run
from relay.runs.expectations import RUNS, PastRun, RunKind, expect, kind_of, past_runs, plans_of
from relay.store.engine import Store
from relay.store.models import Run, Selection
from relay.views import RunState
from tests.relay.stories import Story, planned, report_of

TEST = "test/test_demo_ops.py::TestDemoOpsSPYRE::test_op__float32"


def selection(took_s: float, planned_s: float = 0.0) -> PastRun:
    return PastRun(RunKind.SELECTION, took_s, planned_s)


def test_a_planned_run_takes_as_much_longer_than_its_tests_as_others_did() -> None:
    past = [selection(30, 10), selection(300, 100), selection(90, 45), selection(1, 0)]
    expected = expect(past, RunKind.SELECTION, 20.0)
    assert expected is not None
    assert (expected.seconds, expected.runs, expected.by) == (60.0, 3, ExpectedBy.PLAN)


def test_before_there_is_a_plan_runs_of_the_same_kind_count() -> None:
    past = [selection(30), selection(40), selection(80), PastRun(RunKind.FULL, 9_000, 0)]
    expected = expect(past, RunKind.SELECTION, 0.0)
    assert expected is not None
    assert (expected.seconds, expected.runs, expected.by) == (40, 3, ExpectedBy.KIND)


def test_few_runs_of_the_same_kind_are_no_measure_alone() -> None:
    expected = expect([selection(30), PastRun(RunKind.FULL, 90, 0)], RunKind.FULL, 0.0)
    assert expected is not None
    assert (expected.seconds, expected.runs, expected.by) == (60, 2, ExpectedBy.DEVICE)


def test_without_a_past_nothing_is_expected() -> None:
    assert expect([], RunKind.SELECTION, 100.0) is None


@pytest.mark.parametrize(
    ("full", "only", "kind"),
    [("", [], RunKind.SELECTION), ("a label", [], RunKind.FULL), ("", ["t"], RunKind.SINGLE)],
)
def test_the_kind_is_what_was_asked_for(full: str, only: list[str], kind: RunKind) -> None:
    assert kind_of(full, only) is kind


def add_runs(store: Store, device: str, seconds: list[float], state: RunState = RunState.FINISHED) -> list[int]:
    """Runs of the past, written at once: only their times matter here."""
    at = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
    runs = [
        Run(
            identity=f"{device}:{state}:{number}",
            repo="pytorch/pytorch",
            kind="pull_request",
            base_sha="b" * 40,
            head_sha="a" * 40,
            device=device,
            trigger="webhook",
            state=state,
            created_at=at,
            started_at=at,
            finished_at=at + timedelta(seconds=took),
        )
        for number, took in enumerate(seconds)
    ]
    with store.writing() as session:
        session.add_all(runs)
        session.flush()
        return [run.id for run in runs]


def test_the_newest_finished_runs_of_each_device_are_looked_at(store: Store) -> None:
    add_runs(store, "spyre", [1000.0] * 5 + [5.0] * RUNS)
    add_runs(store, "other", [7.0])
    add_runs(store, "other", [900.0], RunState.CANCELLED)
    with store.reading() as session:
        found = past_runs(session, ["spyre", "other", "unknown"])
    assert set(found) == {"spyre", "other"}
    assert [run.took_s for run in found["spyre"]] == [5.0] * RUNS
    assert [run.took_s for run in found["other"]] == [7.0]


def test_plans_are_found_by_their_runs(store: Store) -> None:
    story = Story(store)
    planned_run, waiting = story.open(pr=1), story.open(pr=2)
    story.select(report_of([[planned(TEST)]]))
    with store.writing() as session:
        session.get_one(Selection, planned_run).expected_seconds = 12.5
        cancel_run(session, waiting, story.tick(), "stop")
    with store.reading() as session:
        assert plans_of(session, [planned_run, waiting]) == {planned_run: 12.5}
        assert plans_of(session, []) == {}
