"""What a selection missed is kept for good, by the files of the change, within bounds."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from relay.contract import ChangedFile
from relay.runs.misses import MOST_CAUSES, MOST_TESTS, missed_with, record_miss, remember_miss
from relay.runs.queries import events_after
from relay.store.engine import Store
from relay.store.models import MissedEdge, PlannedTest, Run
from tests.relay.stories import Story, kept, planned, reason, regressed, report_of
from tests.relay.worker_story import DEVICE, NOW, arrive, later

TEST = "test/test_b.py::TestB::test_y"
DRAWN = "test/test_b.py::TestBSPYRE::test_y_spyre"
BY_LOT = kept(TEST, reason(2, "not tied to the change", "no rule named it"), reason(4, "holdout", "drawn by lot"))
SOURCE = ChangedFile(path="torch/_refs.py", status="modified", category="python source")


def record(store: Store, run_id: int, paths: list[str], *, test: str = TEST, evidence: str = "first") -> int:
    with store.writing() as session:
        return record_miss(
            session,
            device=DEVICE,
            changed_paths=paths,
            base_test=test,
            evidence=evidence,
            run_id=run_id,
            now=later(1) if evidence == "first" else NOW,
        )


def edges(store: Store, *paths: str, device: str = DEVICE) -> list[tuple[str, str, str]]:
    with store.reading() as session:
        return [(it.changed_path, it.base_test, it.evidence) for it in missed_with(session, device, paths)]


def test_a_miss_is_kept_once_and_never_changed(store: Store) -> None:
    run_id = arrive(store)
    assert record(store, run_id, ["torch/b.py", "torch/a.py", "torch/a.py"]) == 2
    assert record(store, run_id, ["torch/a.py", "torch/c.py"], evidence="second") == 2
    told = [("torch/a.py", TEST, "first"), ("torch/c.py", TEST, "second")]
    assert edges(store, "torch/c.py", "torch/a.py", *(f"torch/{number}.py" for number in range(1_200))) == told
    assert edges(store, "torch/a.py", device="other") == []
    assert edges(store) == []


@pytest.mark.parametrize(
    ("paths", "test"),
    [
        ([f"torch/{number}.py" for number in range(MOST_CAUSES + 1)], TEST),
        (["\N{SNOWMAN}" * 900], TEST),
        (["torch/a.py"], "x" * 2_300),
        ([], TEST),
    ],
    ids=["many", "long path", "long test", "none"],
)
def test_what_is_out_of_bounds_is_not_kept(store: Store, paths: list[str], test: str) -> None:
    assert record(store, arrive(store), paths, test=test) == 0
    with store.reading() as session:
        assert session.scalars(select(MissedEdge)).all() == []


def _lot(store: Store, *changed: ChangedFile) -> tuple[int, str]:
    """A run in which a drawn test broke; the run, and what its history says."""
    story = Story(store)
    run_id = story.open()
    plan = report_of([[planned(DRAWN, base=TEST)]], decisions=[BY_LOT])
    story.select(plan.model_copy(update={"changed_files": changed}))
    story.run_all({DRAWN: regressed(DRAWN, "assert 1 == 2")})
    with store.reading() as session:
        assert session.scalar(select(PlannedTest.missed)) is True
        events = events_after(session, run_id, 0, limit=100)[1]
    return run_id, next(event.text for event in events if event.kind == "selection.missed")


def test_a_miss_seen_by_lot_ties_the_test_to_the_changed_source_alone(store: Store) -> None:
    """Neither a test file nor a document breaks another test."""
    other = [
        ChangedFile(path=path, status="modified", category=category)
        for path, category in (("test/test_a.py", "test"), ("docs/a.rst", "docs"))
    ]
    run_id, told = _lot(store, SOURCE, *other)
    sentence = f"missed by the selection of run {run_id}: it ran by lot there, and broke"
    assert edges(store, "torch/_refs.py", "test/test_a.py", "docs/a.rst") == [("torch/_refs.py", TEST, sentence)]
    assert "from now on" in told


def test_of_a_change_of_very_many_files_nothing_is_kept_and_the_history_says_so(store: Store) -> None:
    many = [SOURCE.model_copy(update={"path": f"torch/{number}.py"}) for number in range(MOST_CAUSES + 1)]
    _, told = _lot(store, *many)
    assert edges(store, *(file.path for file in many)) == []
    assert f"Nothing is remembered of it: {MOST_CAUSES + 1} changed files" in told


def test_of_a_change_that_breaks_everything_so_many_tests_are_kept(store: Store) -> None:
    """What is kept is kept for good, so one change must not tie all tests to its files."""
    run_id, _ = _lot(store, SOURCE)
    for number in range(MOST_TESTS - 1):
        record(store, run_id, ["torch/_refs.py"], test=f"test/test_c.py::test_{number}")
    with store.writing() as session:
        told = remember_miss(session, session.get_one(Run, run_id), "test/test_c.py::test_more", "seen", NOW)
    assert told.startswith("Nothing is remembered of it")
    assert len(edges(store, "torch/_refs.py")) == MOST_TESTS
